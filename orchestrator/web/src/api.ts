// What the page asks of its server, and the forms of the answers. Nothing else talks to the network, but ahead.ts before it.
import {type Early, kBase, kPatience, kWhoami} from './first';

export interface Whoami {
  name: string; kind: string; role: 'viewer' | 'operator' | 'admin';
  racks?: string[]; expires?: string; csrf?: string; two_person?: string[]; reason_required?: string[];
}
export interface Held { why: string; nodes: number; first?: string }
export interface RunStatus { run: number; ends?: string; held?: Held[]; approvals?: Record<string, number>; hands_until?: string }
export interface Status { version: string; site: string; rehearsal?: boolean; started: string; pid: number; runs: RunStatus[] }
export interface Level { name: string; kind: string; parent?: string; watts?: number }
export interface Inventory {
  site: string; file: string; digest: string; racks: {name: string; room?: string; units: number}[]; power: Level[];
  profiles: {name: string; gpus?: number; units?: number; idle_watts?: number; peak_watts?: number}[]; nodes: number;
}
export interface SiteNode {
  name: string; rack?: string; unit?: number; height?: number; profile: string; feeds?: string[]; serial?: string;
  run?: number; runs?: number[];
}
export interface PastRun { run: number; playbook: string; began: string; state: string; cause?: string }
export interface NodeResult { node: string; run: number; newest?: number; state: RowState; cause?: string }
export interface Found { kind: 'node' | 'serial' | 'part' | 'model'; node: string; run?: number; part?: string; text: string }
export interface Playbook { name: string; description?: string; parameters: {name: string; value?: string; type?: string}[] }
export interface Run {
  run: number; playbook: string; state: 'submitted' | 'running' | 'interrupted' | 'cancelled' | 'ended';
  began: string; ended?: string; seconds?: number; nodes: number; pass: number; fail: number; inconclusive: number;
  in_work: number; rehearsal?: boolean; by?: string;
}
export interface Cluster { what?: string; text?: string; chance?: number; [key: string]: unknown }
/// `cause` is the key by which nodes are grouped, `text` what was said of the first of them.
export interface Failure { step: string; cause: string; text?: string; nodes: string[]; ended?: number; clusters?: Cluster[] }
export interface Standing {
  running?: Record<string, number>; halts?: Record<string, string>; between_tries?: number;
  overdue?: {node: string; step: string; running_s?: number; seconds?: number}[];
  failed?: number; paused?: boolean; paused_by?: string; [key: string]: unknown;
}
export interface Requalification {
  node: string; of_run: number; text: string; new_machine?: boolean; again?: {stage: string; seconds: number; why: string[]}[];
  kept?: string[]; open?: string[]; elsewhere?: string[]; stages?: number; seconds?: number; seconds_of_all?: number;
}
export interface RunDetail extends Run {
  steps: string[]; racks: {name: string; units: number}[]; standing?: Standing; ends?: string; held?: Held[];
  approvals?: Record<string, number>; hands_until?: string; failures?: Failure[];
}
export type RowState = 'waiting' | 'running' | 'between-tries' | 'needs-operator' | 'pass' | 'fail' | 'inconclusive' | 'ended';
export interface Row {
  node: string; rack?: string; unit?: number; height?: number; profile?: string; state: RowState; step?: string;
  step_began?: string; attempt?: number; waits_for?: string; cause?: string; overdue?: boolean; done?: number; steps?: number;
}
export interface Subject { kind: string; name?: string; part?: string; ends?: {name: string; part?: string}[] }
export interface Cause {
  decision: string; part?: string; criterion: string; measured?: string; expected?: string; evidence?: string; remedy?: string;
  stages?: string[]; value?: number; unit?: string; at_least?: number; at_most?: number; margin?: number;
  consequence_of?: string; criterion_id?: string; place?: string; subject?: Subject;
}
export interface Checked {
  stage: string; part?: string; measure: string; met: boolean; measured?: string; expected?: string; source?: string;
  value?: number; unit?: string; unit_of_limits?: string; at_least?: number; at_most?: number; margin?: number; criterion_id?: string; place?: string;
  evidence?: string; subject?: Subject;
}
export interface StepRecord {
  step: string; outcome: string; detail?: string; attempts: number; because?: string; began?: string; ended?: string;
}
export interface Part {
  kind: string; name: string; model?: string; serial?: string; firmware?: string; slot?: string; size_bytes?: number;
  [key: string]: unknown;
}
export interface Measured { name: string; part?: string; value: number | null; unit?: string; traced_to?: string }
export interface Stage {
  measurements?: Measured[]; parts?: Part[]; unknown?: {fact: string; why: string}[]; facts?: Record<string, string>;
  evidence?: string;
}
export interface SlowNumber {
  stage: string; part: string; measure: string; text: string; behind?: number;
}
export interface NodeRecord {
  node: string; run: number; verdict: string; hand_off?: string; causes: Cause[]; checked: Checked[]; steps: StepRecord[];
  bmc_parts?: Part[]; stages: Record<string, Stage>; audit?: unknown[]; console?: {file: string; bytes: number}[];
  slow?: SlowNumber[]; rehearsal?: boolean; profile?: string; rack?: string; unit?: number; chassis_serial?: string;
}
export interface StepSpan {
  node: string; step: string; outcome: string; began: string; ended?: string; attempts?: number; detail?: string; overdue?: boolean;
}
export interface PlanStep {
  step: string; expected_s?: number; deadline_s?: number; max_attempts?: number; load?: unknown; left_out?: string; watts?: number;
}
export interface Plan {
  playbook: string; steps: number | string[]; max_parallel?: number;
  groups: {nodes: string[]; steps: PlanStep[]; expected_s?: number}[];
  forecast?: {
    end_s: number; bounds?: {[key: string]: unknown}[]; time_line?: unknown[]; never?: unknown[];
    power?: {level: string; name: string; idle_watts: number; peak_watts: number; limit_watts?: number; watts: number[]}[];
  };
  [key: string]: unknown;
}
export interface Event {
  run: number; sequence: number; time: string; kind: string; node?: string; step?: string; data: Record<string, unknown>;
  words?: string;
}
export interface Sample {
  node: string; part?: string; subject?: string; stage: string; measure: string; value: number | null; unit?: string;
  run?: number; criterion?: unknown; time?: string;
}
export interface VerdictRow { node: string; verdict: string; causes: Cause[]; checked: number; not_met: number }
export interface CommandAnswer { command: number; kind: string; answer: 'pending' | 'waiting' | 'accepted' | 'refused'; why?: string }
export interface PowerNow { levels: {name: string; kind: string; parent?: string; limit_watts?: number; planned_watts: number}[] }
export interface OperatorAction {
  run: number; rack?: string; unit?: number; node: string; part?: string; step?: string; action: string; why?: string;
  at_the_rack?: boolean; goes_on?: boolean; consequences?: Cause[];
}
export interface Approval { approval: string; what: Record<string, unknown>; by: string; at: string; expires: string }
export interface Schedule {
  name: string; playbook: string; nodes?: string; when: string; next: string; idle_only?: boolean; missed?: 'once' | 'skip';
  due?: string; outcome?: 'first-seen' | 'begun' | 'started' | 'skipped' | 'refused'; run?: number; why?: string;
}
export interface NoticeHook {
  name: string; kind: 'webhook' | 'slack' | 'mail' | 'otlp'; host?: string; on: string[]; racks?: string[]; group_s?: number; quiet?: string;
  urgent?: string[]; waiting: number; tries?: number; next?: string; sent: number; last_sent?: string; lost: number;
  last_failed?: string; why?: string;
}
/// Of a node's HCA to a leaf, or between two switches.
export interface Cable {
  node?: string; hca?: string; rail?: number; group?: number; below?: string; below_port?: string; switch: string; port: string;
}
export interface ConsoleText { files: {file: number; bytes: number}[]; file: number; offset: number; text: string; next?: number }
export interface Answer {
  command?: number; kind?: string; answer?: 'accepted' | 'refused' | 'pending' | 'waiting'; why?: string; run?: number; approval?: string;
  expires?: string;
}

/// A problem document of the server (RFC 9457), or what kept an answer from coming.
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly errors: {where: string; what: string}[] = []) {
    super(message);
  }
}

let csrf = '';

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = await response.json();
    return new Problem(response.status, String(body.code ?? ''), String(body.detail ?? body.title ?? response.statusText),
      Array.isArray(body.errors) ? body.errors : []);
  } catch {
    return new Problem(response.status, '', `The server answered ${response.status} ${response.statusText}.`);
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path.startsWith('/') && !path.startsWith(kBase) ? kBase + path : path,
      {credentials: 'same-origin', signal: AbortSignal.timeout(kPatience), ...init});
  } catch {
    throw new Problem(0, 'unreachable', 'The server does not answer. Check that cupel serve runs and that this device reaches it.');
  }
}

/// The newest answer of each path, which a 304 confirms.
const kept = new Map<string, {etag: string; data: unknown}>();
const kMostKept = 400;

/// What two parts of a view ask for at once is asked for once. Not later: an answer that is due may be of before an event.
const asked = new Map<string, Promise<unknown>>();

export function get<T>(path: string): Promise<T> {
  const same = asked.get(path);
  if (same) return same as Promise<T>;
  const answer = getNow<T>(path);
  asked.set(path, answer);
  setTimeout(() => asked.delete(path));
  return answer;
}

/// What ahead.ts has asked for, once; undefined: nothing, or it has not come.
async function early(path: string): Promise<Early | undefined> {
  const answer = globalThis.cupelEarly?.get(path);
  globalThis.cupelEarly?.delete(path);
  return answer?.catch(() => undefined);
}

async function getNow<T>(path: string): Promise<T> {
  const known = kept.get(path);
  const ahead = known ? undefined : await early(path);
  const response = ahead?.response ?? await send(path, {headers: known ? {'If-None-Match': known.etag} : {}, cache: 'no-store'});
  if (response.status === 304 && known) return known.data as T;
  if (!response.ok) throw await problemOf(response);
  const data = (ahead?.data ?? await response.json()) as T;
  const etag = response.headers.get('ETag');
  kept.delete(path);
  if (etag) kept.set(path, {etag, data});
  if (kept.size > kMostKept) kept.delete(kept.keys().next().value!);
  return data;
}

/// All pages of a list, one after the other.
export async function getAll<T>(path: string, most = 100_000): Promise<T[]> {
  const sign = path.includes('?') ? '&' : '?';
  let {items, next} = await get<{items: T[]; next?: string | number}>(path);
  if (next === undefined) return items;
  items = [...items];
  while (next !== undefined && items.length < most) {
    const page: {items: T[]; next?: string | number} = await get(`${path}${sign}cursor=${encodeURIComponent(String(next))}`);
    items.push(...page.items);
    next = page.items.length ? page.next : undefined;
  }
  return items;
}

export async function text(path: string): Promise<string> {
  const response = await send(path, {cache: 'no-store'});
  if (!response.ok) throw await problemOf(response);
  return response.text();
}

async function change<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = {'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID()};
  if (csrf) headers['X-Cupel-CSRF'] = csrf;
  const response = await send(path, {method, headers, body: body === undefined ? null : JSON.stringify(body)});
  if (!response.ok) throw await problemOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}
export const post = <T>(path: string, body: unknown) => change<T>('POST', path, body);

export async function whoami(): Promise<Whoami> {
  const who = await get<Whoami>(kWhoami);
  csrf = who.csrf ?? '';
  return who;
}
export async function logIn(token: string): Promise<Whoami> {
  globalThis.cupelEarly?.clear();
  const who = await post<Whoami>('/session', {token});
  csrf = who.csrf ?? '';
  return who;
}
export async function logOut(): Promise<void> {
  await change('DELETE', '/session');
  csrf = '';
  kept.clear();
}

export const evidencePath = (run: number, hash: string) => `${kBase}/runs/${run}/evidence/${encodeURIComponent(hash)}`;
export const reportPath = (run: number, format: string) => `${kBase}/runs/${run}/report?format=${format}`;
export const nodePath = (run: number, node: string) => `/runs/${run}/nodes/${encodeURIComponent(node)}`;

export type Link = 'connecting' | 'live' | 'lost';

const kLook = 10_000, kSlept = 180_000;  // milliseconds; a hidden page's timers run once a minute

/// Events of all runs from now on. The browser reconnects by itself and names the last event that it has, so that
/// none is lost. A device that was asleep may hold a connection whose other end is long gone, and hears nothing of that:
/// it is replaced. `onGone`: the login is not valid any more, and the stream is not asked for again. Returns what ends it.
export function listen(onEvent: (event: Event) => void, onLink: (link: Link) => void, onGone: () => void): () => void {
  let source: EventSource | undefined;
  let again: number | undefined;
  let stopped = false;
  let last = '';
  const take = (message: MessageEvent) => {
    if (message.lastEventId) last = message.lastEventId;
    try {
      onEvent(JSON.parse(message.data) as Event);
    } catch { /* not an event of ours */ }
  };
  const later = () => {
    clearTimeout(again);
    if (!stopped) again = window.setTimeout(open, 5000);
  };
  const gone = () => {
    if (stopped) return;
    stopped = true;
    onGone();
  };
  const open = () => {
    if (stopped) return;
    source = new EventSource(`${kBase}/stream?after=${encodeURIComponent(last || 'now')}`);
    source.onopen = () => onLink('live');
    source.onmessage = take;
    for (const kind of kKinds) for (const name of [kind, kind.replace(/_/g, '-')]) source.addEventListener(name, take as EventListener);
    source.onerror = () => {
      onLink('lost');
      if (source?.readyState !== EventSource.CLOSED) return;
      // The stream was refused; the browser does not report why.
      whoami().then(later, (problem: Problem) => problem.status === 401 ? gone() : later());
    };
  };
  open();
  let looked = Date.now();
  const watch = window.setInterval(() => {
    const now = Date.now(), slept = now - looked > kSlept;
    looked = now;
    if (!slept || stopped) return;
    source?.close();
    clearTimeout(again);
    onLink('lost');
    open();
  }, kLook);
  return () => {
    stopped = true;
    clearInterval(watch);
    clearTimeout(again);
    source?.close();
  };
}

export const kKinds = [
  'run_started', 'run_resumed', 'step_began', 'step_started', 'step_retried', 'step_ended', 'step_skipped', 'step_overdue',
  'step_shed', 'step_stopped', 'step_approved', 'node_retried', 'run_paused', 'run_unpaused', 'run_halted', 'run_released',
  'wave_opened', 'run_interrupted', 'run_cancelled', 'run_ended',
];
