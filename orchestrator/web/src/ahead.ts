// Asks for what the first view is drawn of while the browser still loads the page's script. It stands in index.html itself,
// and the page's policy has its hash. What it asked for, api.ts takes.
import {type Early, isActive, isOverview, kBase, kInventory, kNodes, kPatience, kRuns, kWhoami, rowsPath, runsToShow} from './first';

const kFresh = 10_000;  // milliseconds; what nobody has taken by then may be of before an event

const early = new Map<string, Promise<Early>>();
globalThis.cupelEarly = early;
setTimeout(() => early.clear(), kFresh);

function ask(path: string): Promise<any> {
  const answer = fetch(kBase + path, {credentials: 'same-origin', cache: 'no-store', signal: AbortSignal.timeout(kPatience)})
    .then(async (response) => ({response, data: response.ok ? await response.json() : undefined}));
  early.set(path, answer);
  return answer.then(({response, data}) => data ?? Promise.reject(response));
}

async function askAll(): Promise<void> {
  await ask(kWhoami);  // alone: each request of a login that the service does not know counts as a refused one
  if (!isOverview(location.hash)) return;
  ask(kInventory).catch(() => {});
  const [nodes, runs] = await Promise.all([ask(kNodes), ask(kRuns)]);
  const active = runs.items.filter(isActive).map((run: {run: number}) => run.run);
  for (const run of runsToShow(active, nodes.items)) ask(rowsPath(run)).catch(() => {});
}
askAll().catch(() => {});  // the page asks again, and says why
