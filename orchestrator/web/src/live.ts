// What is known of the site now: answers of the server, kept fresh by its events.
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {type Event, get, getAll, type Link, listen, Problem, type Row} from './api';

export interface Known<T> { data?: T; problem?: Problem; loading: boolean }

/// Every listener of events; a run's events, or all.
type Listener = (event: Event) => void;
const listeners = new Set<Listener>();
let link: Link = 'connecting';
const linkListeners = new Set<() => void>();
const linked = new Set<() => void>();  // to be called once events come: of what was before them, none did
const kFirst = 1000;  // milliseconds; the first time behind the first view

/// The journal writes "step-began"; one spelling in the page.
const normal = (event: Event): Event => ({...event, kind: event.kind.replace(/-/g, '_')});

/// Events that come close together are told together, so that the page is drawn once for all of them: the first at once,
/// what follows it a little later.
const kTogether = 100;  // milliseconds
let gathered: Event[] = [];
let told = 0, timer = 0;
function tell(): void {
  timer = 0;
  told = Date.now();
  const events = gathered;
  gathered = [];
  for (const event of events) for (const listener of [...listeners]) listener(event);
}

/// `onGone`: the login is not valid any more.
export function startListening(onGone: () => void): () => void {
  return listen(
    (event) => {
      gathered.push(normal(event));
      timer ||= window.setTimeout(tell, Math.max(0, told + kTogether - Date.now()));
    },
    (now) => {
      const before = link;
      link = now;
      for (const listener of [...linkListeners]) listener();
      if (now === 'live' && before !== 'live') setTimeout(() => { for (const ask of [...linked]) ask(); }, before === 'lost' ? 0 : kFirst);
    }, onGone);
}

export function useLink(): Link {
  const [value, set] = useState(link);
  useEffect(() => {
    const changed = () => set(link);
    linkListeners.add(changed);
    changed();
    return () => { linkListeners.delete(changed); };
  }, []);
  return value;
}

/// Asks again what was asked before events came, and what an interruption of them may have hidden.
export function useLinked(ask: () => void): void {
  const newest = useRef(ask);
  newest.current = ask;
  useEffect(() => {
    const each = () => newest.current();
    linked.add(each);
    return () => { linked.delete(each); };
  }, []);
}

export function useEvents(listener: Listener): void {
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => {
    const each: Listener = (event) => newest.current(event);
    listeners.add(each);
    return () => { listeners.delete(each); };
  }, []);
}

/// Whether the first view is drawn: what it is not made of is asked for behind it, so that it waits for none of that.
const kLatest = 3000;  // milliseconds
let drawn = false;
const untilDrawn = new Set<() => void>();
export function firstViewDrawn(): void {
  drawn = true;
  for (const tell of [...untilDrawn]) tell();
}
export function useDrawn(): boolean {
  const [value, set] = useState(drawn);
  useEffect(() => {
    const tell = () => set(true);
    untilDrawn.add(tell);
    if (drawn) tell();
    const timer = setTimeout(tell, kLatest);
    return () => { clearTimeout(timer); untilDrawn.delete(tell); };
  }, []);
  return value;
}

interface Refresh {
  run?: number | 'any';                 // asked again after events of this run
  pause?: number;                       // at most so often, in milliseconds
  every?: number;                       // and so often without any event
  apply?: (data: any, event: Event) => any;  // what an event changes before the server was asked
}

/// The answer to `path`; undefined while `path` is. Asked again after events, when the link is there again, and when the
/// page is shown again.
export function useFetched<T>(path: string | undefined, fetch: (path: string) => Promise<T>, refresh: Refresh): Known<T> & {again: () => void} {
  const [known, set] = useState<Known<T>>({loading: true});
  const asked = useRef({path: undefined as string | undefined, at: 0, timer: 0, busy: false, stale: false});
  const ask = (): void => {
    const state = asked.current;
    if (!state.path) return;
    if (state.busy) { state.stale = true; return; }
    state.busy = true;
    state.stale = false;
    state.at = Date.now();
    const mine = state.path;
    fetch(mine)
      .then((data) => { if (asked.current.path === mine) set((old) => old.data === data && !old.problem ? old : {data, loading: false}); })
      .catch((problem: Problem) => { if (asked.current.path === mine) set((old) => ({...(old.data !== undefined ? {data: old.data} : {}), problem, loading: false})); })
      .finally(() => { state.busy = false; if (state.stale || state.path !== mine) later(); });
  };
  const later = (): void => {
    const state = asked.current;
    if (state.timer) return;
    const wait = Math.max(0, state.at + (refresh.pause ?? 1000) - Date.now());
    state.timer = window.setTimeout(() => { state.timer = 0; ask(); }, wait);
  };
  // Before the paint: what is asked for is under way while the browser draws the frame around it.
  useLayoutEffect(() => {
    const state = asked.current;
    if (state.path !== path) set({loading: path !== undefined});
    state.path = path;
    ask();
    return () => { clearTimeout(state.timer); state.timer = 0; };
  }, [path]);
  useEffect(() => {
    const woken = () => { if (document.visibilityState === 'visible') ask(); };
    document.addEventListener('visibilitychange', woken);
    window.addEventListener('online', woken);
    const timer = refresh.every ? window.setInterval(() => { if (document.visibilityState === 'visible') ask(); }, refresh.every) : 0;
    return () => {
      document.removeEventListener('visibilitychange', woken);
      window.removeEventListener('online', woken);
      clearInterval(timer);
    };
  }, [refresh.every]);
  useLinked(() => { if (document.visibilityState === 'visible') ask(); });
  useEvents((event) => {
    if (refresh.run === undefined || (refresh.run !== 'any' && refresh.run !== event.run)) return;
    if (refresh.apply) set((old) => old.data === undefined ? old : {...old, data: refresh.apply!(old.data, event)});
    later();
  });
  return {...known, again: ask};
}

export const useGet = <T>(path: string | undefined, refresh: Refresh = {}) => useFetched<T>(path, (p) => get<T>(p), refresh);
export const useList = <T>(path: string | undefined, refresh: Refresh = {}) => useFetched<T[]>(path, (p) => getAll<T>(p), refresh);

/// What an event says of a node, before the server is asked for all of them.
export function applyToRows(rows: Row[], event: Event): Row[] {
  if (!event.node) return rows;
  const place = rows.findIndex((row) => row.node === event.node);
  if (place < 0) return rows;
  const row = {...rows[place]!};
  switch (event.kind) {
    case 'step_began':
      row.state = 'running';
      row.step = event.step;
      row.step_began = event.time;
      row.attempt = Number(event.data['attempt'] ?? 1);
      delete row.waits_for;
      delete row.overdue;
      break;
    case 'step_retried':
      row.state = 'between-tries';
      if (typeof event.data['why'] === 'string') row.waits_for = event.data['why'];
      break;
    case 'step_ended':
    case 'step_skipped':
      row.done = (row.done ?? 0) + 1;
      if (row.step === event.step) row.state = 'waiting';
      break;
    case 'step_overdue':
      row.overdue = true;
      break;
    default:
      return rows;
  }
  const changed = rows.slice();
  changed[place] = row;
  return changed;
}

/// The time of day, so often.
export function useNow(every: number): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => set(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
