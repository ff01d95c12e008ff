// What the first view is drawn of: its requests, and the runs whose nodes it follows.
export const kBase = '/api/v1';
export const kWhoami = '/whoami', kInventory = '/inventory', kNodes = '/nodes?limit=1000', kRuns = '/runs?limit=50';
export const rowsPath = (run: number) => `/runs/${run}/nodes?limit=10000`;

export const kPatience = 30_000;  // milliseconds for an answer
const kMostRuns = 12;             // whose nodes are shown at once

export const isActive = (run: {state: string}) => run.state === 'running' || run.state === 'submitted';

/// The runs whose nodes are followed: those that work, then the newest of which a node has its newest record.
export function runsToShow(active: number[], nodes: {run?: number}[]): number[] {
  const others = new Set<number>();
  for (const node of nodes) if (node.run !== undefined && !active.includes(node.run)) others.add(node.run);
  const newestFirst = (runs: Iterable<number>) => [...runs].sort((a, b) => b - a);
  return [...newestFirst(active), ...newestFirst(others)].slice(0, kMostRuns);
}

export const isOverview = (hash: string) => /^#?\/*(\?|$)/.test(hash);

/// An answer with its JSON; no data where it is a problem.
export interface Early { response: Response; data?: unknown }
declare global {
  var cupelEarly: Map<string, Promise<Early>> | undefined;
  var cupelAhead: Promise<unknown> | undefined;  // all that the first view is made of has come, or will not
}
