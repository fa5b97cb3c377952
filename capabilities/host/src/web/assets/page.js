// What pages can do more with a script. Everything that decides is a form that works without it.
'use strict';

const page = document.body;
const live = document.getElementById('live');
const narrow = window.matchMedia('(max-width: 40rem)');

// The host's clock, by what it said when it made this page.
const offset = Number(page.dataset.now) - Date.now();
const now = () => Date.now() + offset;

function say(text) {
  if (live) live.textContent = text;
}

// --- What counts down -------------------------------------------------------

const title = document.title;

// How many wait, where somebody sees it while another page is in front.
function tell() {
  const waiting = Number(document.getElementById('count')?.dataset.count ?? 0);
  document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
}

function left(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds === 0) return 'now';
  const minutes = Math.floor(seconds / 60);
  return minutes > 0 ? `in ${minutes} min ${seconds % 60} s` : `in ${seconds} s`;
}

function count() {
  for (const time of document.querySelectorAll('time[data-counts]')) {
    if (!time.title) time.title = time.textContent;
    const rest = Number(time.dataset.at) - now();
    time.textContent = left(rest);
    time.classList.toggle('soon', rest < 15000);
    // Nobody is told of it: what has expired is asked for. Once a second, should the host see it later than we do.
    const place = rest <= 0 && time.closest('[data-live]');
    if (place) refresh(place);
  }
}

// --- What arms: shown long enough, and shown to its end ---------------------

function arm() {
  const end = document.getElementById('end-of-text');
  for (const form of document.querySelectorAll('form.yes:not([data-armed])')) {
    const button = form.querySelector('button.approve');
    let shown = !end || !('IntersectionObserver' in window);
    let rested = false;
    const settle = () => {
      const ready = shown && rested;
      button.disabled = !ready;
      form.dataset.armed = ready ? 'yes' : 'no';
    };
    settle();
    setTimeout(() => { rested = true; settle(); }, Number(form.dataset.arm) + 50);
    if (shown) continue;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      shown = true;
      observer.disconnect();
      settle();
    });
    observer.observe(end);
  }
}

// --- What changes by itself -------------------------------------------------

// One at a time for each place, and once more when something happened meanwhile.
const busy = new Map();

async function refresh(place) {
  if (busy.has(place)) {
    busy.set(place, true);
    return;
  }
  busy.set(place, false);
  try {
    const answer = await fetch(place.dataset.live, { headers: { accept: 'text/html' } });
    if (answer.status === 401) return ended();
    if (!answer.ok) return;
    const had = document.activeElement?.closest?.('[data-approval]')?.dataset.approval;
    // Made by the host, and escaped there.
    place.innerHTML = await answer.text();
    if (had) place.querySelector(`[data-approval="${CSS.escape(had)}"] a.open`)?.focus();
    count();
    tell();
    arm();
  } catch {
    page.dataset.connected = 'no';
  } finally {
    const again = busy.get(place);
    busy.delete(place);
    if (again) refresh(place);
  }
}

function ended() {
  say('The session has ended. Log in again.');
  location.assign('/login');
}

function listen() {
  if (!('EventSource' in window) || page.dataset.page === '/login' || page.dataset.page === '') return;
  const card = document.getElementById('card-live');
  // A card stays as it is while somebody reads it, until it is answered.
  const all = () => document.querySelectorAll('[data-live]:not(#card-live)').forEach(refresh);
  const events = new EventSource('/events');
  let first = true;
  events.addEventListener('open', () => {
    page.dataset.connected = 'yes';
    // What happened while nobody listened.
    if (!first) document.querySelectorAll('[data-live]').forEach(refresh);
    first = false;
  });
  events.addEventListener('error', () => { page.dataset.connected = 'no'; });
  events.addEventListener('ended', () => { events.close(); ended(); });
  events.addEventListener('other', all);
  const about = (event) => JSON.parse(event.data);
  events.addEventListener('appeared', (event) => {
    const { capability, risk } = about(event);
    say(`${capability} waits for an answer, risk ${risk}`);
    all();
  });
  for (const kind of ['changed', 'left']) {
    events.addEventListener(kind, (event) => {
      all();
      if (card && card.dataset.live.endsWith(about(event).id)) {
        say('This call was answered or has ended.');
        refresh(card);
      }
    });
  }
  window.addEventListener('pagehide', () => events.close());
}

// --- Keys -------------------------------------------------------------------

let approving = false;

function rows() {
  return [...document.querySelectorAll('.row a.open')];
}

function step(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
  all[next].focus();
}

function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  const typing = event.target.closest?.('input:not([type=hidden]), textarea, select');
  if (event.key === 'Escape') {
    approving = false;
    document.activeElement?.blur?.();
    return;
  }
  if (typing) return;
  const approve = document.getElementById('approve');
  if (event.key === 'Enter' && approving) {
    event.preventDefault();
    approving = false;
    if (approve && !approve.disabled) approve.form.requestSubmit(approve);
    return;
  }
  approving = false;
  const act = {
    j: () => step(1),
    k: () => step(-1),
    o: () => document.activeElement?.matches?.('a.open') && document.activeElement.click(),
    y: () => {
      if (!approve || approve.disabled) {
        // Or the Enter that follows would press whatever has the focus.
        document.activeElement?.blur?.();
        return say('This cannot be approved yet: read it to its end.');
      }
      const typed = document.getElementById('typed');
      if (typed && !typed.value) return typed.focus();
      approving = true;
      approve.focus();
      say('Press Enter to approve this call once.');
    },
    n: () => document.getElementById('deny')?.focus(),
    e: () => !narrow.matches && document.getElementById('edit')?.click(),
    s: () => !narrow.matches && document.getElementById('session')?.focus(),
    '?': () => {
      const keys = document.getElementById('keys');
      if (keys) {
        keys.open = !keys.open;
        if (keys.open) keys.scrollIntoView();
      }
    },
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

document.addEventListener('keydown', key);
// Where it stands: what is above has to be read first.
document.querySelector('[data-first]')?.focus({ preventScroll: true });
count();
tell();
setInterval(count, 1000);
arm();
listen();
