// The page's overview as two pictures, for scripts/picture: starts `cupel serve` on a port that is free, logs in, and takes
// the window in the light and in the dark.
//   CUPEL_TOKEN=... node picture.mjs BUILD FOLDER PLACE   BUILD: of the build; FOLDER: with state/ and service.yaml
import {spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';

const [build, folder, place] = process.argv.slice(2).map((each) => resolve(each));
const {chromium} = createRequire(join(build, 'web/node_modules/any'))('playwright-core');
const kPatience = 120_000;  // milliseconds; beside a build, nothing is quick

const server = spawn(join(build, 'cupel'), ['--state', join(folder, 'state'), 'serve', '--config', join(folder, 'service.yaml'),
  '--listen', '127.0.0.1:0', '--no-socket'], {stdio: ['ignore', 'pipe', 'pipe']});
const ended = new Promise((done) => server.once('exit', done));
const address = await new Promise((done, failed) => {
  let text = '';
  const take = (bytes) => {
    text += bytes;
    const found = /https:\/\/127\.0\.0\.1:\d+/.exec(text);
    if (found) done(found[0]);
  };
  server.stdout.on('data', take);
  server.stderr.on('data', take);
  server.once('exit', (code) => failed(new Error(`cupel serve ended with ${code}: ${text}`)));
});

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
try {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({viewport: {width: 1280, height: 640}, colorScheme, ignoreHTTPSErrors: true});
    context.setDefaultTimeout(kPatience);
    const page = await context.newPage();
    await page.goto(address);
    await page.getByLabel('Token').fill(process.env.CUPEL_TOKEN);
    await page.getByRole('button', {name: 'Log in'}).click();
    await page.locator('.rack .slot[aria-label*=": fail"]').first().waitFor();
    await page.locator('.panel', {has: page.getByRole('heading', {name: 'Needs an operator'})}).getByText('gpu5').first().waitFor();
    await page.waitForFunction(() => ![...document.querySelectorAll('main [role=status]')].some((each) => each.textContent === 'Loading…'));
    await page.mouse.move(640, 630);  // over nothing, so that no node is lit
    await page.screenshot({path: join(place, `rack-${colorScheme}.png`), animations: 'disabled'});
    await context.close();
  }
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await ended;
}
