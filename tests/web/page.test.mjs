// The page in Chromium, served by `cupel serve` with the data of a rehearsal: every view at three widths, without an error
// on the console, without a violation of axe-core's rules, and with what it must show.
//   node page.test.mjs --cupel PROGRAM --modules FOLDER [--shots FOLDER]
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';

const option = (name) => process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined;
const here = dirname(fileURLToPath(import.meta.url));
const cupel = resolve(option('--cupel'));
const modules = resolve(option('--modules'), 'node_modules');
const required = createRequire(join(modules, 'any'));
const {chromium} = required('playwright-core');
const axe = readFileSync(join(modules, 'axe-core/axe.min.js'), 'utf8');
const shots = option('--shots');
if (shots) mkdirSync(shots, {recursive: true});

const kWidths = [390, 1280, 2560];
const kPatience = 60_000;  // beside a full build, nothing is quick
const kBad = 'w01-n2', kSlow = 'w01-n3';

const folder = mkdtempSync(join(tmpdir(), 'cupel-page-'));
const state = join(folder, 'state');
let server, browser, address, token;

/// What a server prints on its first lines: its address, or what else says that it is ready.
function ready(child, sign = /https:\/\/127\.0\.0\.1:\d+/) {
  return new Promise((done, failed) => {
    let text = '';
    const timer = setTimeout(() => failed(new Error(`${child.spawnargs.slice(3).join(' ')} is not ready: ${text}`)), kPatience);
    const take = (bytes) => {
      text += bytes;
      const found = sign.exec(text);
      if (found) { clearTimeout(timer); done(found[0]); }
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('exit', (code) => { clearTimeout(timer); failed(new Error(`${child.spawnargs.slice(3).join(' ')} ended with ${code}: ${text}`)); });
  });
}

/// To its end, by force where it does not come.
async function stop(child) {
  if (!child || child.exitCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(killer);
}

/// An operator's, of this state folder.
function tokenOf(name, its = state) {
  const made = run(['token', 'add', name, '--role', 'operator'], its);
  const found = /cupel_\S+/.exec(made.stdout + made.stderr)?.[0];
  assert.ok(found, made.stdout + made.stderr);
  return found;
}

function run(words, its = state) {
  const ran = spawnSync(cupel, ['--state', its, ...words], {encoding: 'utf8', timeout: 300_000});
  if (ran.error) throw ran.error;
  return ran;
}

/// The programs for nodes: a virtual node takes an ELF file of such a name for the program.
function programsIn(where) {
  const programs = join(where, 'programs');
  mkdirSync(programs, {recursive: true});
  for (const name of ['cupel-node', 'cupel-burn']) writeFileSync(join(programs, name), '\x7fELF', {mode: 0o755});
  return programs;
}

/// What a service has that has stood for a while: two schedules, of which one was refused, and two hooks, of which one fails.
function settings() {
  const now = Date.now(), hour = 3_600_000;
  const at = new Date(now - hour).toTimeString().slice(0, 5);  // the next time is a day ahead
  writeFileSync(join(folder, 'slack-url'), 'https://hooks.example.com/services/secret-word\n', {mode: 0o600});
  writeFileSync(join(folder, 'service.yaml'), `inventory: rack/inventory.yaml
schedules:
  - {name: nightly-audit, playbook: audit, at: "${at}"}
  - {name: weekly, playbook: quick-check, nodes: "rack:w01", at: "${at}", days: [sun], missed: skip}
notices:
  - {name: ops, slack: "file:slack-url", on: [halt, schedule], quiet: {from: "22:00", to: "07:00"}, urgent: [halt]}
  - {name: tickets, webhook: "http://127.0.0.1:9/hooks/cupel", racks: [w01]}
`, {mode: 0o600});
  writeFileSync(join(state, 'schedules.json'), JSON.stringify({
    'nightly-audit': {due_ms: now, outcome: 'started', run: 1},
    weekly: {due_ms: now, outcome: 'refused', why: 'w01-n2 is in run 1'}}));
  writeFileSync(join(state, 'notices.json'), JSON.stringify({newest: 1, runs: {}, schedules: {'nightly-audit': now, weekly: now}, approvals: [], queues: {}, tallies: {
    ops: {sent: 12, lost: 0, sent_ms: now - hour, failed_ms: 0, why: ''},
    tickets: {sent: 3, lost: 2, sent_ms: now - 30 * hour, failed_ms: now - hour, why: 'HTTP 503'}}}));
}

before(async () => {
  const ran = run(['rehearse', join(here, 'page.yaml'), '--speed', '30', '--rack', join(here, 'page_rack.yaml'), '--folder', join(folder, 'rack')]);
  assert.equal(ran.status, 1, `two nodes fail: ${ran.stdout}${ran.stderr}`);
  settings();
  server = spawn(cupel, ['--state', state, '--programs', programsIn(folder), 'serve', '--config', join(folder, 'service.yaml'), '--listen', '127.0.0.1:0'], {stdio: ['ignore', 'pipe', 'pipe']});
  address = await ready(server);
  token = tokenOf('alice');
  browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
}, {timeout: 400_000});

after(async () => {
  await browser?.close();
  await stop(server);
  rmSync(folder, {recursive: true, force: true});
});

/// A logged-in page; `problems` gathers what its console and its network say. `prepared` has it before anything is loaded.
async function open(width, options = {}, {prepared = async () => {}, at = address, by = token} = {}) {
  const context = await browser.newContext({viewport: {width, height: width < 500 ? 844 : 900}, ignoreHTTPSErrors: true, ...options});
  context.setDefaultTimeout(kPatience);
  const page = await context.newPage();
  await prepared(page);
  const problems = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => { if (!request.url().startsWith(at)) problems.push(`a request to ${request.url()}`); });
  await page.goto(at);
  await page.getByLabel('Token').fill(by);
  problems.length = 0;  // until here the server says 401, as it must
  await page.getByRole('button', {name: 'Log in'}).click();
  await page.getByRole('navigation', {name: 'views'}).waitFor();
  return {context, page, problems};
}

/// What the server answers, changed. It is asked for all of it: a page that has it asks whether it was modified.
const altered = (page, path, change) => page.route(path, async (route) => {
  const {'if-none-match': known, ...headers} = route.request().headers();
  const response = await route.fetch({headers});
  await route.fulfill(response.ok() ? {response, json: change(await response.json())} : {response});
});

async function show(page, hash) {
  await page.evaluate((where) => { location.hash = where; }, hash);
  await page.waitForFunction(() => document.querySelector('main h1') !== null && ![...document.querySelectorAll('main [role=status]')].some((each) => each.textContent === 'Loading…'));
}

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}));
  return found.violations.map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.split('\n')[1] ?? ''}`).join(' | ')}`);
}

/// What each view must have, with the data of the rehearsal.
const kViews = [
  ['#/', async (page) => {
    await page.locator('.rack .slot[aria-label*=": fail"]').first().waitFor();
    assert.equal(await page.locator('.rack .slot').count(), 3);
    assert.match(await page.locator('.rack .slot', {hasText: 'n2'}).getAttribute('aria-label'), /w01-n2: fail.*gpu5/);
    await page.getByRole('heading', {name: 'Needs an operator'}).waitFor();
    assert.match(await page.getByRole('list', {name: 'nodes that did not pass'}).innerText(), /w01-n2[\s\S]*gpu5[\s\S]*w01-n3/, 'beside a few racks: why');
    const trouble = page.locator('.panel', {has: page.getByRole('heading', {name: 'Schedules and notices'})});
    assert.match(await trouble.innerText(), /weekly was refused[\s\S]*tickets takes no notices/);
  }],
  ['#/runs', async (page) => { await page.locator('.rows .row:not(.head)').first().waitFor(); assert.equal(await page.locator('.rows .row:not(.head)').count(), 1); }],
  ['#/runs/1', async (page) => {
    await page.locator('.gantt .bar').first().waitFor();
    assert.ok(await page.locator('.gantt .bar').count() >= 3 * 7, 'a bar for each step of each node');
    const ticks = await page.locator('.gantt .tick').evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({left, right}) => [left, right]));
    const names = await page.locator('.gantt .bar span').evaluateAll((all) => all.map((each) => [each.textContent, each.getBoundingClientRect(), each.parentElement.getBoundingClientRect()]))
      .then((all) => all.filter(([, name, bar]) => name.top < bar.bottom).map(([step, name, bar]) => [step, name.right - bar.right]));
    assert.ok(names.length > 0);
    assert.deepEqual(names.filter(([, over]) => over > 0.5), [], 'a name that its bar would cut is not shown');
    const edge = await page.locator('.gantt .axis .who').evaluate((who) => who.getBoundingClientRect().right);
    assert.ok(ticks.every(([left]) => left >= edge - 1), `no time of day under the names: ${ticks}, ${edge}`);
    assert.ok(ticks.length > 0 && ticks.every(([left], i) => i === 0 || left > ticks[i - 1][1]), `no time of day over another: ${ticks}`);
    await page.getByRole('img', {name: /^power of/}).waitFor();
    await page.locator('.c-kind', {hasText: 'ended'}).first().waitFor();
    const causes = page.getByRole('table', {name: 'nodes of the run'}).locator('.c-words', {hasText: 'gpu5'});
    const {x, width} = await causes.boundingBox();
    assert.ok(x + width <= page.viewportSize().width, 'why a node failed is in view, on a phone too');
  }],
  [`#/runs/1/nodes/${kBad}`, async (page) => {
    assert.match(await page.locator('.causes > li').first().innerText(), /gpu5[\s\S]*missing/, 'causes first');
    assert.ok(await page.locator('.numbers tr').count() > 10);
    const lost = page.locator('.numbers tr', {has: page.getByRole('button', {name: 'gpu5'})});
    assert.equal(await lost.count(), 1, 'the numbers of the lost GPU are one row');
    assert.match(await lost.innerText(), /\d+ numbers[\s\S]*gpu5[\s\S]*nothing/);
    assert.equal(await page.locator('.numbers .num', {hasText: 'nothing'}).count(), 1);
    await lost.getByRole('button').press('Enter');
    assert.ok(await page.locator('.numbers tr.sub', {hasText: 'gpu5'}).count() > 10, 'each of them on demand');
    await lost.getByRole('button').press('Enter');
    if (page.viewportSize().width > 760) {  // a phone has no room for it
      await page.locator('div.fleet').first().scrollIntoViewIfNeeded();
      await page.locator('.strip').first().waitFor();
    } else {
      const [wide, seen] = await page.locator('.numbersbox').evaluate((box) => [box.scrollWidth, box.clientWidth]);
      assert.ok(wide <= seen, `numbers are ${wide} pixels wide in ${seen}`);
    }
    await page.getByRole('heading', {name: 'Telemetry of the GPUs'}).scrollIntoViewIfNeeded();
    assert.equal(await page.locator('.heat tbody tr').count(), 7, 'seven GPUs reach each other');
    await page.locator('.reasons li', {hasText: 'gpu7'}).waitFor();
    assert.equal(await page.locator('.reasons li', {hasText: 'gpu5'}).count(), 0, 'the lost GPU has no telemetry');
  }],
  ['#/fabric', async (page) => {
    const cells = page.locator('.leaves tbody td');
    await cells.first().waitFor();
    assert.equal(await cells.count(), 3 * 2, 'two rails of three nodes');
    assert.equal(await page.locator('.leaves table').count(), 2, 'two groups');
    assert.match(await page.locator('.leaves thead').first().innerText(), /rail 1\s*leaf1-r1/);
    assert.equal(await page.locator('.leaves tbody td.low').count(), 1);
    assert.match(await page.locator('.leaves tr', {has: page.locator('td.low')}).innerText(), new RegExp(kSlow));
    await page.getByLabel('shown').selectOption({label: 'cables in a wrong port'});
    await page.getByText('cables in a wrong port, 6 ports').waitFor();
  }],
  ['#/schedules', async (page) => {
    const [schedules, hooks] = [page.getByRole('table', {name: 'schedules'}), page.getByRole('table', {name: 'hooks for notices'})];
    await page.getByRole('link', {name: 'run 1'}).waitFor();
    assert.match(await schedules.innerText(), /nightly-audit[\s\S]*audit[\s\S]*on all[\s\S]*\d\d:\d\d every day[\s\S]*in /);
    assert.match(await schedules.locator('tr.bad').innerText(), /weekly[\s\S]*\d\d:\d\d sun[\s\S]*skipped[\s\S]*refused[\s\S]*w01-n2 is in run 1/);
    assert.match(await hooks.locator('tr.bad').innerText(), /tickets[\s\S]*at 127\.0\.0\.1[\s\S]*rack w01[\s\S]*HTTP 503/);
    assert.doesNotMatch(await page.content(), /secret-word|hooks\.example\.com/);
  }],
  ['#/compare/1/1', async (page) => { await page.getByText('No part, serial number or firmware differs.').waitFor(); }],
  ['#/actions', async (page) => {
    await page.locator('.stop li').first().waitFor();
    assert.match(await page.locator('.stop').first().innerText(), /w01-n2[\s\S]*p2p\.pairs of gpu\[0-4,6-7\]/);
    for (const button of await page.locator('.stop li button').all()) {
      const box = await button.boundingBox();
      assert.ok(box.height >= 44 && box.width >= 44, 'large enough for a thumb in a glove');
    }
  }],
  ['#/requalify/w01-n1', async (page) => {
    await page.getByLabel('Replaced parts (optional)').fill('gpu3');
    await page.getByRole('button', {name: 'Plan by what is known'}).click();
    assert.match(await page.getByRole('region', {name: 'the plan'}).innerText(), /w01-n1 since run 1[\s\S]*gpu3 replaced/);
    assert.match(await page.getByRole('region', {name: 'stages'}).innerText(), /gemm[\s\S]*another GPU/);
    assert.equal(await page.getByRole('button', {name: /^Start/}).count(), 0, 'not without a look');
  }],
  ['#/start', async (page) => { await page.getByLabel('Playbook').waitFor(); }],
  ['#/search?q=w01-n', async (page) => { await page.locator('.rows .row:not(.head)').first().waitFor(); assert.equal(await page.locator('.rows .row:not(.head)').count(), 3); }],
];

for (const width of kWidths) {
  test(`every view at ${width} pixels`, {timeout: 400_000}, async () => {
    const {context, page, problems} = await open(width);
    const wrong = [];
    for (const [hash, check] of kViews) {
      await show(page, hash);
      await check(page);
      if (shots) await page.screenshot({path: join(shots, `${hash.replace(/[^a-z0-9]+/gi, '-')}${width}.png`), fullPage: true});
      for (const violation of await violations(page)) wrong.push(`${hash}: ${violation}`);
      const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      if (wide > seen) wrong.push(`${hash} is ${wide} pixels wide in ${seen}`);
      const cut = await page.evaluate(() => [...document.querySelectorAll('main footer button')].filter((each) => each.getBoundingClientRect().left < 0).map((each) => each.innerText));
      if (cut.length) wrong.push(`${hash}: beyond the left edge: ${cut}`);
      wrong.push(...problems.splice(0).map((each) => `${hash}: ${each}`));
    }
    assert.deepEqual(wrong, []);
    await context.close();
  });
}

test('dark, and in print', {timeout: 200_000}, async () => {
  const {context, page, problems} = await open(1280, {colorScheme: 'dark'});
  for (const hash of ['#/', '#/fabric', '#/schedules', `#/runs/1/nodes/${kBad}`]) {
    await show(page, hash);
    assert.deepEqual(await violations(page), [], `axe at ${hash}, dark`);
  }
  await page.emulateMedia({media: 'print'});
  assert.ok(!await page.locator('header.bar').isVisible(), 'no navigation on paper');
  await show(page, '#/runs/1');
  await page.locator('.gantt .bar').first().waitFor();
  assert.ok(await page.locator('.gantt .bar').first().isVisible(), 'the time line has its bars on paper');
  assert.deepEqual(problems, []);
  await context.close();
});

/// What the page draws for paper, and how; all of it in the event itself, behind which the browser lays the page out.
const onPaper = (page) => page.evaluate(() => {
  window.dispatchEvent(new Event('beforeprint'));
  const count = (of) => document.querySelectorAll(of).length;
  const seen = {lines: count('.gantt .line'), rows: count('[aria-label="nodes of the run"] .row:not(.head)'), scheme: getComputedStyle(document.documentElement).colorScheme,
    plot: document.querySelector('.plot .uplot').getBoundingClientRect().width};
  window.dispatchEvent(new Event('afterprint'));
  return {...seen, after: count('.gantt .line')};
});

test('all nodes of a long run are on paper, in light colours and no wider than it', {timeout: 200_000}, async () => {
  const {context, page, problems} = await open(2560, {colorScheme: 'dark'}, {prepared: async (fresh) => {
    await fresh.addInitScript(() => localStorage.setItem('cupel-theme', 'dark'));
    await altered(fresh, /\/api\/v1\/runs\/1\/nodes\?/, ({items, ...rest}) => ({...rest, items: Array.from({length: 300}, (_, i) => ({...items[i % items.length], node: `w01-n${i + 1}`}))}));
  }});
  await show(page, '#/runs/1');
  await page.getByRole('img', {name: /^power of/}).locator('canvas').waitFor();
  assert.ok(await page.locator('.gantt .line').count() < 100, 'on a screen only what is in view');

  const seen = await onPaper(page);

  assert.equal(seen.lines, 300);
  assert.equal(seen.rows, 300);
  assert.equal(seen.scheme, 'light');
  assert.ok(seen.plot <= 640, `${seen.plot} pixels on A4`);
  assert.ok(seen.after < 100, 'and again behind the print');
  await page.emulateMedia({media: 'print'});
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'light');
  assert.deepEqual(problems, []);
  await context.close();
});

test('of a thousand nodes many racks are in view, and suspects leave room for the rails', {timeout: 200_000}, async () => {
  const many = (items, change) => Array.from({length: 334}, (_, copy) => items.map((each) => change(structuredClone(each), copy))).flat();
  const moved = (each, copy) => { for (const key of ['name', 'node', 'rack']) if (each[key]) each[key] = each[key].replace('w01', `w${copy}`); return each; };
  const {context, page, problems} = await open(1280, {}, {prepared: async (fresh) => {
    for (const path of [/\/api\/v1\/nodes\?/, /\/api\/v1\/runs\/1\/(nodes\?|verdicts)/, /\/api\/v1\/results\?/])
      await altered(fresh, path, ({items, ...rest}) => ({...rest, items: many(items, moved)}));
  }});
  await page.locator('.rack').nth(300).waitFor({state: 'attached'});
  const tops = await page.locator('.rack').evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).filter(({bottom}) => bottom < innerHeight).length);
  assert.ok(tops >= 14, `${tops} racks are in view`);
  assert.deepEqual(await violations(page), []);
  await show(page, '#/fabric');
  await page.getByRole('button', {name: /^Show \d+ more$/}).waitFor();
  assert.equal(await page.locator('.panel', {has: page.getByRole('heading', {name: 'Suspects'})}).locator('li').count(), 12);
  assert.deepEqual(problems, []);
  await context.unrouteAll({behavior: 'ignoreErrors'});
  await context.close();
});

test('failures alike are told in the words of one node, and one node alone is alike to none', {timeout: 200_000}, async () => {
  const failures = [
    {step: 'ssh-wait', cause: 'SSH: connect to #.#.#.#:#: ref', text: 'SSH: connect to 10.0.0.2:22: refused', nodes: ['w01-n2', 'w01-n3'], ended: 3, clusters: []},
    {step: 'audit', cause: '# finding', text: '1 finding', nodes: ['w01-n1'], ended: 3, clusters: []}];
  const {context, page} = await open(1280, {}, {prepared: (fresh) => altered(fresh, /\/api\/v1\/runs\/1$/, (run) => ({...run, failures}))});
  await show(page, '#/runs/1');
  const panel = page.locator('.panel', {has: page.getByRole('heading', {name: 'Failures alike'})});

  await panel.getByText('SSH: connect to 10.0.0.2:22: refused').waitFor();

  assert.equal(await panel.locator('li').count(), 1);
  assert.match(await panel.innerText(), /said of w01-n2[\s\S]*2 of 3 that did it/);
  assert.ok(!(await panel.innerText()).includes('#'), 'the key is not for people');
  await context.close();
});

test('by keyboard alone', {timeout: 200_000}, async () => {
  const {context, page} = await open(1280);
  await show(page, '#/');
  await page.keyboard.press('/');
  await page.keyboard.type('w01-n3');
  await page.keyboard.press('Enter');
  await page.locator('.rows a', {hasText: 'w01-n3'}).waitFor();
  await page.locator('main').focus();
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.waitForFunction(() => location.hash === '#/runs');
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.waitForFunction(() => location.hash === '#/schedules');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({state: 'detached'});
  await page.reload();
  await page.getByText('To the content').waitFor({state: 'attached'});
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'To the content');
  await context.close();
});

test('a run is started from the page, and its events arrive without a reload', {timeout: 200_000}, async () => {
  const {context, page, problems} = await open(1280);
  await show(page, '#/start');
  await page.getByLabel('Playbook').selectOption('audit');
  await page.locator('.form input').first().fill('w01-n1');
  await page.getByRole('button', {name: 'Show the plan'}).click();
  await page.getByRole('button', {name: /^Start audit on w01-n1/}).click();
  await page.waitForFunction(() => /^#\/runs\/2$/.test(location.hash));
  await page.locator('.c-step', {hasText: 'bmc-facts'}).first().waitFor();  // its machine is gone: it cannot pass
  await page.getByRole('button', {name: 'Cancel', exact: true}).click();
  const dialog = page.getByRole('dialog');
  const sure = dialog.getByRole('button', {name: 'Cancel the run'});
  assert.ok(await sure.isDisabled(), 'not without a reason');
  await dialog.getByLabel('Reason').fill('only a test');
  await sure.click();
  await page.locator('.titlebar .state', {hasText: 'cancelled'}).waitFor();
  assert.deepEqual(problems.filter((each) => !/Failed to load resource/.test(each)), []);
  await context.close();
});

test('evidence is downloaded, and what the server refuses is said', {timeout: 200_000}, async () => {
  const {context, page} = await open(1280);
  await show(page, `#/runs/1/nodes/${kBad}`);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('a.hash').first().click()]);
  assert.match(readFileSync(await download.path(), 'utf8'), /^# stage /);
  await show(page, '#/runs/77');
  await page.getByRole('alert').waitFor();
  await context.close();
});

test('a view whose file is gone with an update offers to reload the page, and comes once the file is there', {timeout: 200_000}, async () => {
  let gone = true;
  const {context, page} = await open(1280, {}, {prepared: (fresh) => fresh.route(/\/others-/, (route) => gone ? route.fulfill({status: 404, body: '{}'}) : route.continue())});
  await page.locator('.rack .slot').first().waitFor();
  await show(page, '#/runs');
  assert.deepEqual(await violations(page), []);
  assert.match(await page.getByRole('alert').innerText(), /updated/);

  gone = false;
  await page.getByRole('button', {name: 'Reload the page'}).click();

  await page.getByRole('table').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await context.close();
});

test('the overview is drawn without the file of the other views, which comes behind it', {timeout: 200_000}, async () => {
  const asked = [];
  let behind;  // waited for from the start: where we are slower than the page, it asks before we come to wait
  const {context, page, problems} = await open(1280, {}, {prepared: async (fresh) => {
    fresh.on('request', (request) => asked.push(new URL(request.url()).pathname));
    behind = fresh.waitForRequest(/\/others-/, {timeout: 3 * kPatience});
    behind.catch(() => {});
  }});
  await page.locator('.rack .slot').first().waitFor();
  await behind;

  const script = asked.filter((path) => path.endsWith('.js'));
  assert.equal(new Set(script).size, script.length, 'each file once');
  const html = await (await page.request.get(address)).text();
  for (const path of script.filter((each) => !each.startsWith('/others-'))) assert.ok(html.includes(`"${path}"`), `${path} is not asked for by index.html itself`);
  assert.ok(!html.includes('/others-'));
  assert.deepEqual(problems, []);
  await context.close();
});

test('a page whose token is revoked asks for a login, and for its events no more', {timeout: 200_000}, async () => {
  const made = run(['token', 'add', 'eve', '--role', 'viewer']);
  const its = /cupel_\S+/.exec(made.stdout + made.stderr)?.[0];
  const context = await browser.newContext({ignoreHTTPSErrors: true});
  context.setDefaultTimeout(kPatience);
  const page = await context.newPage();
  await page.goto(address);
  await page.getByLabel('Token').fill(its);
  await page.getByRole('button', {name: 'Log in'}).click();
  await page.locator('.l-live').waitFor();
  let refused = 0;
  page.on('response', (response) => { if (response.url().includes('/stream') && response.status() === 401) ++refused; });
  run(['token', 'revoke', its.slice(6, 22)]);
  await page.getByLabel('Token').waitFor();  // the stream ends within 15 s
  assert.ok(refused <= 1, `the stream was refused ${refused} times`);
  await context.close();
});

test('a page that slept for a day shows what happened meanwhile', {timeout: 200_000}, async () => {
  const {context, page} = await open(1280, {}, {prepared: (fresh) => fresh.clock.install()});
  await show(page, '#/runs');
  await page.locator('.l-live').waitFor();
  await context.setOffline(true);
  await page.clock.fastForward('24:00:00');
  await page.locator('.l-lost').waitFor();
  const submitted = run(['--programs', programsIn(folder), 'run', 'audit', '--inventory', join(folder, 'rack/inventory.yaml'), '--nodes', 'w01-n3', '--detach']);
  const number = /run (\d+)/.exec(submitted.stdout + submitted.stderr)?.[1];
  assert.ok(number, submitted.stdout + submitted.stderr);
  assert.equal(run(['cancel', number, '--reason', 'while the page slept']).status, 0);
  await context.setOffline(false);
  await page.locator('.rows .row', {hasText: 'cancelled', has: page.locator(`a[href="#/runs/${number}"]`)}).waitFor();
  await page.locator('.l-live').waitFor();
  await context.close();
});

/// One machine that stands, with a service of its own: what was tested of it is void by a new GPU.
async function repaired(own) {
  const its = join(own, 'state'), inventory = join(own, 'rack/inventory.yaml'), programs = programsIn(own);
  writeFileSync(join(own, 'rack.yaml'), `rack: w02
profile: dgx-h100
nodes: w02-n[1-1]
bmc: 127.69.3.[1-1]
ssh: 127.69.4.[1-1]
ports: {bmc: 0, ssh: 0}
boot: {power_on: 5s, power_off: 3s, shutdown: 15s, post: 60s, report_lag: 2s}
`);
  writeFileSync(join(own, 'qualify.yaml'), `playbook: qualify
steps:
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - stage: gpu-facts
  - {stage: gemm, with: {duration: 90s}, on_failure: continue}
  - step: verdict
`);
  const rack = spawn(cupel, ['--state', its, 'rack', 'serve', join(own, 'rack.yaml'), '--folder', join(own, 'rack'), '--speed', '60'], {stdio: ['ignore', 'pipe', 'pipe']});
  await ready(rack, /w02-n1/);
  const ran = run(['run', join(own, 'qualify.yaml'), '--inventory', inventory, '--no-console', '--programs-on-nodes', '--wait-for-repair', '0s'], its);
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  const service = spawn(cupel, ['--state', its, '--programs', programs, 'serve', '--inventory', inventory, '--listen', '127.0.0.1:0'], {stdio: ['ignore', 'pipe', 'pipe']});
  return {rack, service, at: await ready(service), by: tokenOf('bob', its)};
}

test('a repaired node is looked at, planned, tested again and judged from the page', {timeout: 400_000}, async () => {
  const {rack, service, at, by} = await repaired(join(folder, 'repaired'));
  try {
    const {context, page, problems} = await open(1280, {}, {at, by});
    await show(page, '#/requalify/w02-n1');
    await page.getByLabel('Replaced parts (optional)').fill('gpu3');
    await page.getByRole('button', {name: 'Read what is there now'}).click();
    await page.getByRole('button', {name: /^Start 1 stage/}).click();  // behind the look
    await page.waitForFunction(() => location.hash === '#/runs/3');
    await page.locator('.titlebar .state', {hasText: 'ended'}).waitFor();
    await show(page, '#/runs/3/nodes/w02-n1');
    await page.locator('.titlebar .state', {hasText: 'pass'}).waitFor();
    assert.match(await page.locator('main').innerText(), /gemm/);
    assert.deepEqual(problems, []);
    await context.close();
  } finally {
    await stop(service);
    await stop(rack);
  }
});

/// What a file of the page exports, out of the page.
async function exported(view, file = `views/${view}.tsx`) {
  const bundle = join(folder, `${view}.mjs`);
  required('esbuild').buildSync({entryPoints: [resolve(here, `../../orchestrator/web/src/${file}`)], outfile: bundle, bundle: true,
    format: 'esm', platform: 'node', jsx: 'automatic', jsxImportSource: 'preact', nodePaths: [modules], loader: {'.css': 'empty'}});
  return import(bundle);
}

test('the overview follows the runs that work before newer ones that are over', async () => {
  const {runsToShow} = await exported('first', 'first.ts');
  const nodes = Array.from({length: 30}, (_, run) => ({run: run + 1}));
  assert.deepEqual(runsToShow([3], [...nodes, {}]), [3, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20]);
  assert.deepEqual(runsToShow([], [{run: 2}, {run: 2}, {}]), [2]);
});

test('a run that judged nothing hides no verdict in the overview', async () => {
  const {resultOf} = await exported('overview');
  const failed = {node: 'n1', run: 5, newest: 9, state: 'fail'}, passed = {node: 'n1', run: 9, state: 'pass'};
  assert.equal(resultOf(failed, {run: 9}, 9), failed, 'a look behind it');
  assert.equal(resultOf(failed, {run: 9}, undefined), failed);
  assert.equal(resultOf(failed, {run: 9}, 10), undefined, 'a newer run works');
  assert.equal(resultOf(failed, {run: 10}, undefined), undefined);
  assert.equal(resultOf(passed, {run: 9}, 5), passed, 'it is newer than what is shown');
  assert.equal(resultOf(passed, {run: 9}, 9), undefined, 'its row says more');
});

test('the overview learns of results that are due yet', async () => {
  const {allResults} = await exported('overview');
  const answers = {'/api/v1/results?limit=2': {items: [{node: 'a'}, {node: 'b'}], next: 'b'}, '/api/v1/results?limit=2&cursor=b': {items: [{node: 'c'}], incomplete: true},
    '/api/v1/results?limit=9': {items: [{node: 'a'}]}};
  const fetched = globalThis.fetch;
  globalThis.fetch = async (path) => new Response(JSON.stringify(answers[path]));
  try {
    assert.deepEqual(await allResults('/results?limit=2'), {items: [{node: 'a'}, {node: 'b'}, {node: 'c'}], due: true});
    assert.deepEqual(await allResults('/results?limit=9'), {items: [{node: 'a'}], due: false});
  } finally { globalThis.fetch = fetched; }
});

test('index.html asks for the first view, and for no more where the login is unknown', async () => {
  const bundle = join(folder, 'ahead.js');
  required('esbuild').buildSync({entryPoints: [resolve(here, '../../orchestrator/web/src/ahead.ts')], outfile: bundle, bundle: true, format: 'iife'});
  const script = readFileSync(bundle, 'utf8');
  const answers = {'/whoami': {name: 'alice'}, '/inventory': {}, '/nodes?limit=1000': {items: [{run: 7}, {run: 3}]}, '/runs?limit=50': {items: [{run: 7, state: 'running'}, {run: 3, state: 'ended'}]}};
  const askedAt = async (hash, known) => {
    const asked = [];
    const fetch = async (path) => { asked.push(path.replace('/api/v1', '')); return known ? new Response(JSON.stringify(answers[asked.at(-1)] ?? {})) : new Response('{}', {status: 401}); };
    new Function('fetch', 'location', 'setTimeout', script)(fetch, {hash}, () => 0);
    await new Promise((done) => setTimeout(done, 50));
    delete globalThis.cupelEarly;
    return asked;
  };
  const rows = (run) => `/runs/${run}/nodes?limit=10000`;
  const all = await askedAt('#/', true);
  assert.deepEqual(all.slice(0, 2), ['/whoami', '/runs?limit=50']);
  assert.deepEqual(all.slice(2).sort(), ['/inventory', '/nodes?limit=1000', rows(3), rows(7)]);
  assert.ok(all.indexOf(rows(7)) < all.indexOf(rows(3)), 'what works is asked for first');
  assert.deepEqual(await askedAt('#/runs/7', true), ['/whoami']);
  // Preloaded without a script, as fetch() asks for it; Chromium warns of one that a view does not use.
  const html = readFileSync(resolve(here, '../../orchestrator/web/src/index.html'), 'utf8');
  assert.deepEqual(html.match(/<link rel="preload".*>/g), ['<link rel="preload" as="fetch" crossorigin href="/api/v1/whoami">']);
  assert.deepEqual(await askedAt('#/', false), ['/whoami', '/runs?limit=50']);
});

test('a stream that a sleeping device holds is replaced, and goes on behind the last event', async () => {
  const {listen} = await exported('api', 'api.ts');
  const before = {window: globalThis.window, EventSource: globalThis.EventSource, now: Date.now};
  const sources = [], links = [];
  let look, now = 1_000_000;
  globalThis.EventSource = class {
    static CLOSED = 2;
    constructor(url) { this.url = url; sources.push(this); }
    addEventListener() {}
    close() { this.closed = true; }
  };
  globalThis.window = {setInterval: (work) => { look = work; return 1; }, setTimeout: () => 1};
  Date.now = () => now;
  const wait = (ms) => { now += ms; look(); };
  try {
    const stop = listen(() => {}, (link) => links.push(link), () => assert.fail('the login is valid'));
    sources[0].onopen();
    sources[0].onmessage({lastEventId: '7:12', data: '{}'});
    wait(60_000);
    assert.equal(sources.length, 1, 'the timers of a hidden page are slow');
    wait(24 * 3_600_000);
    assert.equal(sources.length, 2);
    assert.ok(sources[0].closed);
    assert.match(sources[1].url, /after=7%3A12$/);
    assert.deepEqual(links, ['live', 'lost']);
    stop();
  } finally { globalThis.window = before.window; globalThis.EventSource = before.EventSource; Date.now = before.now; }
});

test('of a plan that was much longer than its run, as much is drawn as tells something', async () => {
  const {drawnPlan} = await exported('run');
  assert.deepEqual(drawnPlan([1, 2, 3, 4], 100, 10, Infinity), [[100, 1], [110, 2], [120, 3], [130, 4]]);
  assert.deepEqual(drawnPlan([1, 2, 3, 4], 100, 10, 110), [[100, 1], [110, 2]]);
});

test('names that differ by a number are one, by their last number and by their first', async () => {
  const {folded} = await exported('format', 'format.ts');
  assert.equal(folded(['v01-n07', 'v01-n01', 'v01-n02', 'head']), 'v01-n[01-02,07], head');
  assert.equal(folded(['v01-n2', 'v02-n2', 'v03-n2', 'v04-n1']), 'v[01-03]-n2, v04-n1');
  assert.equal(folded(['a1-n1', 'a1-n2', 'a2-n1', 'a2-n2', 'a3-n2']), 'a[1-2]-n[1-2], a3-n2');
  assert.equal(folded(['gpu0', 'gpu1', 'gpu6']), 'gpu[0-1,6]');
  assert.equal(folded(['mlx5_0']), 'mlx5_0');
});

test('what a cause explains of several parts is said once', async () => {
  const {explained} = await exported('actions');
  assert.deepEqual(explained({explains: ['audit: missing', 'gpu0: p2p.pairs', 'gpu1: p2p.pairs', 'gpu6: p2p.pairs']}), ['audit: missing', 'p2p.pairs of gpu[0-1,6]']);
  assert.deepEqual(explained({consequences: [{criterion: 'gpu.count'}, {criterion: 'p2p.pairs', part: 'gpu2'}]}), ['gpu.count', 'p2p.pairs of gpu2']);
  assert.deepEqual(explained({}), []);
});

test('pieces of one recording alone follow one another', async () => {
  const {withPiece} = await exported('node');
  const second = withPiece(undefined, 1, 10, {text: 'b', next: 20}), third = withPiece(second, 1, 20, {text: 'c'});
  assert.deepEqual(third, {file: 1, text: 'bc'});
  assert.equal(withPiece(second, 1, 10, {text: 'b', next: 20}), second, 'it came twice');
  assert.deepEqual(withPiece(third, 2, 10, {text: 'x'}), {file: 2, text: 'x'}, 'the node was started again');
});

test('a plan that came behind a change of the form is dropped', async () => {
  const {onlyNewest} = await exported('requalify');
  const plans = onlyNewest();
  assert.equal(await plans.take(Promise.resolve('plan')), 'plan');
  const late = plans.take(Promise.resolve('plan'));
  plans.drop();
  assert.equal(await late, undefined);
});
