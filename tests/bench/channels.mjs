// What ten thousand webhook events at once cost, each sent twice: how long it takes, how much memory, and how many entries there
// are. Fails when one is lost or taken in twice, or when the host takes more memory for them than MOST_MIB. `node tests/bench/channels.mjs PROGRAM [EVENTS]` with the program's release build.
import { spawn, spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [, , named, events = '10000'] = process.argv;
const program = path.resolve(named);
const EVENTS = Number(events);
// What the bounds of the guide come to: 1024 connections, 32 MiB of bodies, what is known again, and the program itself.
const MOST_MIB = 192;
const PASSWORD = 'four plain words here';
const SECRET = 'a secret for tests and nothing else';

const top = fs.mkdtempSync(path.join(os.tmpdir(), 'capability-channels-'));
const data = path.join(top, 'data');
const token = path.join(top, 'token');
const env = { CAPABILITY_DATA_DIR: data, HOME: top, PATH: process.env.PATH };

function run(words, input = '') {
  const ran = spawnSync(program, [...words, '--json'], { env, cwd: top, input, encoding: 'utf8' });
  try {
    return JSON.parse(ran.stdout);
  } catch {
    throw new Error(`${words.join(' ')}: ${ran.stdout}${ran.stderr}`);
  }
}

fs.mkdirSync(path.join(data, 'secrets'), { recursive: true, mode: 0o700 });
fs.writeFileSync(path.join(data, 'secrets', 'shared'), SECRET, { mode: 0o600 });
fs.writeFileSync(path.join(data, 'config.toml'), `[channels]
listen = "127.0.0.1:0"
[subjects."agent:home"]
capabilities = []
[channels.hook]
kind = "hmac"
subject = "agent:home"
secret = "shared"
header = "X-Signature"
timestamp_header = "X-Timestamp"
window = "1h"
per_minute = 1000000
`, { mode: 0o600 });
run(['operator', 'setup', '--password-stdin'], PASSWORD);
run(['operator', 'login', '--password-stdin', '--token-file', token], PASSWORD);
const host = spawn(program, ['serve', '--json', '--no-web'], { env, cwd: top, stdio: ['ignore', 'pipe', 'inherit'] });
const said = await new Promise((done) => {
  let text = '';
  host.stdout.on('data', (bytes) => {
    text += bytes;
    if (text.includes('\n')) done(JSON.parse(text));
  });
});
const { port } = new URL(said.channels);

const status = (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(fs.readFileSync(`/proc/${host.pid}/status`, 'utf8'))[1]) / 1024;
const memory = (when) => console.log(`memory ${when.padEnd(44)} ${status('VmRSS').toFixed(1).padStart(8)} MiB, at most ${status('VmHWM').toFixed(1)} MiB`);

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/// Each on a connection of its own, all of them open at once as far as the kernel lets them.
function send(number) {
  const body = JSON.stringify({ number, text: 'x'.repeat(512) });
  const at = String(Math.floor(started / 1000));
  const signature = crypto.createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex');
  const headers = { 'x-signature': signature, 'x-timestamp': at, 'content-length': body.length };
  return new Promise((done) => {
    const sent = http.request({ host: '127.0.0.1', port, path: '/channel/hook', method: 'POST', headers, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', () => done(answer.statusCode));
    });
    sent.on('error', () => done(0));
    sent.end(body);
  });
}

/// Until it is answered for good.
async function delivered(number) {
  for (let tries = 1; ; tries += 1) {
    const answer = await send(number);
    if (answer === 200) return tries;
    if (answer === 401) throw new Error(`event ${number} is refused`);
    await sleep(100 + Math.random() * 400);
  }
}

const started = Date.now();
memory('before');
for (const round of ['first', 'replayed']) {
  const from = performance.now();
  const tries = await Promise.all(Array.from({ length: EVENTS }, (_, number) => delivered(number)));
  const took = (performance.now() - from) / 1000;
  const again = tries.reduce((sum, count) => sum + count - 1, 0);
  console.log(`${round.padEnd(10)} ${EVENTS} events in ${took.toFixed(1)} s, ${(EVENTS / took).toFixed(0)} a second, ${again} tries more`);
  memory(`after the ${round} ones`);
}
const most = status('VmHWM');
const { total } = run(['inbox', '--subject', 'agent:home', '-n', '1', '--operator-token-file', token]);
host.kill('SIGTERM');
await new Promise((done) => { host.on('exit', done); });
const log = fs.readdirSync(path.join(data, 'audit')).filter((name) => name.endsWith('.jsonl'))
  .flatMap((name) => fs.readFileSync(path.join(data, 'audit', name), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line)));
const entries = log.filter((record) => record.event === 'channel_entry').length;
const replayed = log.filter((record) => record.event === 'channel_refusal' && record.rule === 'replayed').reduce((sum, record) => sum + record.count, 0);
console.log(`entries ${total}, on record ${entries}, refused as replayed ${replayed}`);
fs.rmSync(top, { recursive: true });
if (most > MOST_MIB) console.log(`the host took ${most.toFixed(1)} MiB, and ${MOST_MIB} are the most`);
if (most > MOST_MIB || total !== EVENTS || entries !== EVENTS || replayed < EVENTS) process.exit(1);
