// What the approval centre costs when much waits and many look: a thousand calls, a hundred viewers, and a queue that changes.
// Prints figures; nothing here fails for being slow. `node tests/bench/pages.mjs PROGRAM` with the program's release build.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const [, , named, waiting = '1000', looks = '500'] = process.argv;
const program = path.resolve(named);
const PASSWORD = 'four plain words here';
const SUBJECTS = Math.ceil(Number(waiting) / 60);
const VIEWERS = 100;
const SESSIONS = 4;
const AT_ONCE = 8;

const top = fs.mkdtempSync(path.join(os.tmpdir(), 'capability-pages-'));
const data = path.join(top, 'data');
const token = path.join(top, 'token');
const env = { CAPABILITY_DATA_DIR: data, HOME: top, PATH: process.env.PATH };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function run(words, input = '') {
  const ran = spawnSync(program, [...words, '--json'], { env, cwd: top, input, encoding: 'utf8' });
  try {
    return JSON.parse(ran.stdout);
  } catch {
    throw new Error(`${words.join(' ')}: ${ran.stdout}${ran.stderr}`);
  }
}
const operate = (words) => run([...words, '--operator-token-file', token]);
const ask = (subject, number) => operate(['invoke', 'web.fetch', JSON.stringify({ url: `https://example.com/${number}` }), '--subject', subject]);

const port = await new Promise((done) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const found = server.address().port;
    server.close(() => done(found));
  });
});
fs.mkdirSync(data, { mode: 0o700 });
const subjects = Array.from({ length: SUBJECTS }, (_, number) => `s${number}`);
const tables = subjects.map((subject) => `[subjects."${subject}"]\ncapabilities = ["web.fetch"]\n`).join('\n');
const settings = `[limits]\napproval_lifetime_s = 3600\n\n[web]\nlisten = "127.0.0.1:${port}"\n\n${tables}`;
fs.writeFileSync(path.join(data, 'config.toml'), settings, { mode: 0o600 });
run(['operator', 'setup', '--password-stdin'], PASSWORD);
run(['operator', 'login', '--password-stdin', '--token-file', token], PASSWORD);
operate(['optin', 'set', 'web', 'on']);
const host = spawn(program, ['serve', '--json'], { env, cwd: top, stdio: ['ignore', 'pipe', 'inherit'] });
await new Promise((done) => {
  let text = '';
  host.stdout.on('data', (bytes) => {
    text += bytes;
    if (text.includes('\n')) done(JSON.parse(text));
  });
});

const rss = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${host.pid}/status`, 'utf8'))[1]) / 1024;
const memory = (when) => console.log(`memory ${when.padEnd(44)} ${rss().toFixed(1).padStart(8)} MiB`);

const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
function request(method, place, { headers = {}, body = '', own = agent } = {}) {
  return new Promise((done, failed) => {
    const sent = http.request({ host: '127.0.0.1', port, path: place, method, headers, agent: own }, (answer) => {
      let size = 0;
      answer.on('data', (bytes) => { size += bytes.length; });
      answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, size }));
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

/// The cookie of a new session.
async function session() {
  const link = new URL(operate(['web', 'link']).link);
  const body = new URLSearchParams({ link: link.searchParams.get('link') }).toString();
  const headers = { origin: link.origin, 'content-type': 'application/x-www-form-urlencoded' };
  for (;;) {
    const answer = await request('POST', '/login', { headers, body });
    if (answer.status !== 429) return answer.headers['set-cookie'][0].split(';')[0];
    await sleep(1000);
  }
}

/// Looks at a page many times, some at once, and says how long each took.
async function look(what, place, cookie, count = Number(looks)) {
  const took = [];
  let left = count;
  let size = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      const answer = await request('GET', place, { headers: { cookie } });
      if (answer.status !== 200) throw new Error(`${place}: ${answer.status}`);
      took.push(performance.now() - began);
      size = answer.size;
    }
  }));
  took.sort((a, b) => a - b);
  const at = (part) => took[Math.min(took.length - 1, Math.floor(took.length * part))].toFixed(1).padStart(7);
  console.log(`${what.padEnd(51)} p50 ${at(0.5)}  p99 ${at(0.99)}  most ${at(1)} ms  ${(size / 1024).toFixed(0)} KiB`);
}

try {
  const cookie = await session();
  memory('at the start');
  await look('the queue, empty', '/', cookie);
  const began = performance.now();
  const ids = [];
  for (let number = 0; number < Number(waiting); number += 1) {
    // An operator's token is good for ten minutes.
    if (number % 200 === 199) run(['operator', 'login', '--password-stdin', '--token-file', token], PASSWORD);
    ids.push(ask(subjects[number % SUBJECTS], number).approval.id);
  }
  console.log(`${waiting} calls asked in ${((performance.now() - began) / 1000).toFixed(1)} s, one process each`);
  memory(`with ${waiting} calls that wait`);
  await look(`the queue with ${waiting}, unchanged`, '/', cookie);
  memory('after looks at it');

  // Each is told of every change.
  let told = 0;
  const streams = [];
  const cookies = [];
  for (let number = 0; number < SESSIONS; number += 1) cookies.push(await session());
  for (let number = 0; number < VIEWERS; number += 1) {
    await new Promise((done, failed) => {
      const sent = http.get({ host: '127.0.0.1', port, path: '/events', headers: { cookie: cookies[number % SESSIONS] }, agent: false }, (answer) => {
        if (answer.statusCode !== 200) failed(new Error(`events: ${answer.statusCode}`));
        answer.on('data', (bytes) => { told += bytes.toString().split('event: appeared').length - 1; });
        answer.on('error', () => {});
        done();
      });
      sent.on('error', failed);
      streams.push(sent);
    });
  }
  await sleep(500);
  memory(`with ${VIEWERS} viewers`);
  const delays = [];
  for (let time = 0; time < 20; time += 1) {
    told = 0;
    const from = performance.now();
    const asked = spawn(program, ['invoke', 'web.fetch', JSON.stringify({ url: `https://example.org/${time}` }), '--json'], { env, cwd: top, stdio: 'ignore' });
    await new Promise((done) => asked.on('exit', done));
    const filed = performance.now();
    while (told < VIEWERS && performance.now() - filed < 20_000) await sleep(2);
    delays.push([filed - from, performance.now() - filed]);
  }
  delays.sort((a, b) => a[1] - b[1]);
  console.log(`a call is told to all ${VIEWERS} viewers after it was asked: median ${delays[10][1].toFixed(0)}, most ${delays[19][1].toFixed(0)} ms`);

  // Every look finds another queue.
  let changing = true;
  const changes = (async () => {
    for (let number = 0; changing && number < ids.length; number += 1) {
      const denied = spawn(program, ['approvals', 'deny', ids[number], '--operator-token-file', token, '--json'], { env, cwd: top, stdio: 'ignore' });
      await new Promise((done) => denied.on('exit', done));
    }
  })();
  await look('the queue while calls are denied, viewers told', '/', cookie);
  changing = false;
  await changes;
  await look('one card', `/approvals/${ids.at(-1)}`, cookie);
  memory('after everything');
  streams.forEach((stream) => stream.destroy());
  await sleep(1000);
  memory('without viewers');
} finally {
  agent.destroy();
  host.kill('SIGTERM');
  await new Promise((done) => host.on('exit', done));
  fs.rmSync(top, { recursive: true, force: true });
}
