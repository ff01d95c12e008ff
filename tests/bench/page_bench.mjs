// The page at 1,000 nodes, in headless Chromium: how long its first view takes, and how long an event takes from the
// journal to the screen, alone and beside 50 others a second. The service is api_bench's, with the page of its build.
//   node page_bench.mjs --bench BUILD/tests/api_bench --modules BUILD/web [--nodes 1000] [--rounds 10] [--events 100]
// A new window of Chromium loads pages of its own for the address bar, on the same cores. The page is opened when
// Chromium is through with that; with --new-window, at once.
import {spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {createInterface} from 'node:readline';

const option = (name, usual) => process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : usual;
const {chromium} = createRequire(join(resolve(option('--modules'), 'node_modules'), 'any'))('playwright-core');
const nodes = Number(option('--nodes', 1000)), rounds = Number(option('--rounds', 10)), events = Number(option('--events', 100));
const newWindow = process.argv.includes('--new-window');
const kPatience = 60_000, kOthersEvery = 20;  // milliseconds

const server = spawn(resolve(option('--bench')), ['--serve', String(nodes)], {stdio: ['pipe', 'pipe', 'inherit']});
const lines = createInterface({input: server.stdout})[Symbol.asyncIterator]();
const first = await lines.next();
if (first.done) throw new Error('api_bench printed nothing');
const [address, token] = first.value.split(' ');

/// When each event was written, by its step.
const written = new Map(), wanted = new Map();
(async () => {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const [, step, at] = line.value.split(' ');
    written.set(step, Number(at));
    wanted.get(step)?.();
  }
})();
const timeOf = (step) => new Promise((done) => {
  const found = () => { done(written.get(step)); written.delete(step); wanted.delete(step); };
  if (written.has(step)) found(); else wanted.set(step, found);
});
const nodeOf = (i) => `r${String(Math.floor(i / 6)).padStart(4, '0')}-n${1 + i % 6}`;
const write = (i, step) => server.stdin.write(`${nodeOf(i % nodes)} ${step}\n`);

/// In the page: when all that is in view is drawn, when all nodes are, and when a node's step is; each behind the paint.
function watch(count) {
  const painted = (then) => requestAnimationFrame(() => setTimeout(then));
  const waiting = new Map();
  window.bench = {drawn: 0, viewed: 0, seen: (step) => new Promise((done) => waiting.set(step, done))};
  let counting = true, looking = true;
  /// Racks beyond the window's lower edge, and in those above it no node without its state.
  const inView = () => {
    const racks = [...document.querySelectorAll('.rack')];
    const below = racks.findIndex((rack) => rack.getBoundingClientRect().top > innerHeight);
    return below > 0 && racks.slice(0, below).every((rack) => rack.querySelectorAll('.slot').length === rack.querySelectorAll('.slot.s-run').length);
  };
  new MutationObserver((changes) => {
    if (looking && inView()) {
      looking = false;
      painted(() => { window.bench.viewed = performance.now(); });
    }
    if (counting && document.querySelectorAll('.rack .slot.s-run').length >= count) {
      counting = false;
      painted(() => { window.bench.drawn = performance.now(); console.debug('all are drawn'); });
    }
    if (waiting.size) for (const {target} of changes) {
      const step = / at (gemm-\d+)/.exec(target.title ?? '')?.[1], done = waiting.get(step);
      if (done) { waiting.delete(step); painted(() => done(Date.now())); }
    }
  }).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['title', 'class']});
}

const rank = (values, share) => values.slice().sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const told = (what, values, unit = 'ms') => console.log(`${what}: median ${rank(values, 0.5).toFixed(0)} ${unit}, p99 ${rank(values, 0.99).toFixed(0)} ${unit}, of ${values.length}`);

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const options = {viewport: {width: 1280, height: 900}, ignoreHTTPSErrors: true};
let context = await browser.newContext(options);
let page = await context.newPage();
await page.goto(address);
await page.getByLabel('Token').fill(token);
await page.getByRole('button', {name: 'Log in'}).click();
await page.getByRole('navigation', {name: 'views'}).waitFor();
const storageState = await context.storageState();
await context.close();

/// Until all processes of the browser together use less than a tenth of a core.
const kTurn = 200, kMostTurns = 100, kIdle = 0.02;  // milliseconds, turns, seconds of CPU time in one
const devtools = await browser.newBrowserCDPSession();
async function idle() {
  const used = async () => (await devtools.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, {cpuTime}) => sum + cpuTime, 0);
  let before = await used();
  for (let turn = 0; turn < kMostTurns; ++turn) {
    await new Promise((done) => setTimeout(done, kTurn));
    const now = await used();
    if (now - before < kIdle) return;
    before = now;
  }
  throw new Error('Chromium does not come to rest');
}

/// A browser that has nothing of the page yet, but is logged in.
async function open(hash) {
  context = await browser.newContext({...options, storageState});
  context.setDefaultTimeout(kPatience);
  page = await context.newPage();
  await page.addInitScript(watch, nodes);
  if (!newWindow) await idle();
  // Not by a function in the page: what Playwright puts into it for that takes as long as the view.
  const drawn = page.waitForEvent('console', {predicate: (message) => message.text() === 'all are drawn', timeout: kPatience}).catch(() => undefined);
  await page.goto(`${address}/#${hash}`);
  return {drawn};
}

const started = [], painted = [], viewed = [], drawn = [];
for (let i = 0; i < rounds; ++i) {
  await (await open('/')).drawn;
  drawn.push(await page.evaluate(() => window.bench.drawn));
  viewed.push(await page.evaluate(() => window.bench.viewed));
  started.push(await page.evaluate(() => Math.min(...performance.getEntriesByType('resource').map((each) => each.startTime)) - performance.getEntriesByType('navigation')[0].responseEnd));
  painted.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
  if (i + 1 < rounds) await context.close();
}
told('Chromium alone, from the answer with the page to its first request', started);
told('first paint', painted);
told('first view, all in the window drawn', viewed);
told(`all ${nodes} nodes drawn`, drawn);

let step = 0;
async function latencies() {
  const all = [];
  for (let i = 0; i < events; ++i) {
    const name = `gemm-${++step}`;
    const seen = page.evaluate((which) => window.bench.seen(which), name);
    await page.evaluate(() => 0);  // the page waits for it from here on
    write(14 * i, name);  // an even node; the others get odd ones
    all.push(await seen - await timeOf(name));
  }
  return all;
}
await page.locator('.link.l-live').waitFor();
told('an event to the screen', await latencies());
let other = 0;
const timer = setInterval(() => write(22 * ++other + 1, 'train'), kOthersEvery);
told(`an event to the screen beside ${1000 / kOthersEvery} others a second`, await latencies());
clearInterval(timer);
await context.close();

const runs = [];
for (let i = 0; i < rounds; ++i) {
  await open('/runs/1');
  await page.locator('.gantt .bar').first().waitFor();
  runs.push(await page.evaluate(() => performance.now()));
  await context.close();
}
told('the view of the run, its time line drawn', runs);

await browser.close();
server.stdin.end();
await new Promise((done) => server.once('exit', done));
