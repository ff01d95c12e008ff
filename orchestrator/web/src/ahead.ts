// Asks for what the first view is drawn of while the browser still loads the page's script. index.html loads it first.
// What it asked for, api.ts takes.
import {type Early, isActive, isOverview, kBase, kInventory, kNodes, kPatience, kRuns, kWhoami, rowsPath, runsToShow} from './first';

const kFresh = 10_000;  // milliseconds; what was not taken by then may be of before an event

const early = new Map<string, Promise<Early>>();
globalThis.cupelEarly = early;
setTimeout(() => early.clear(), kFresh);

function ask(path: string): Promise<any> {
  const answer = fetch(kBase + path, {credentials: 'same-origin', cache: 'no-store', signal: AbortSignal.timeout(kPatience)})
    .then(async (response) => ({response, data: response.ok ? await response.json() : undefined}));
  early.set(path, answer);
  return answer.then(({response, data}) => data ?? Promise.reject(response));
}

/// Runs that work, as soon as they are known; the newest others once it is known which nodes have their newest record there.
const asked = new Set<number>();
function askRows(runs: number[]): Promise<unknown> {
  const rows = runs.filter((run) => !asked.has(run)).map((run) => {
    asked.add(run);
    return ask(rowsPath(run)).catch(() => {});
  });
  return Promise.all(rows);
}

// Two at first, not all: each request of a login that the service does not know counts as a refused one.
const who = ask(kWhoami);
const active = !isOverview(location.hash) ? undefined
  : ask(kRuns).then(({items}) => items.filter(isActive).map((run: {run: number}) => run.run));
const first = active?.then((runs) => askRows(runsToShow(runs, []))).catch(() => {});
globalThis.cupelAhead = who.then(async () => {
  if (!active) return;
  const racks = ask(kInventory).catch(() => {});
  const [{items}, runs] = await Promise.all([ask(kNodes), active]);
  await Promise.all([racks, first, askRows(runsToShow(runs, items))]);
}).catch(() => {});  // the page asks again, and says why
