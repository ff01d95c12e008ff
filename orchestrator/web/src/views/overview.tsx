// The site at a glance: what runs, where each node stands, what an operator has to do.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {get, getAll, type Inventory, type NodeResult, type OperatorAction, type PowerNow, type Row, type Run, type RunDetail, type SiteNode, type Whoami} from '../api';
import {isActive, kInventory, kNodes, kRuns, rowsPath, runsToShow} from '../first';
import {at, clock, folded, moment, natural, plural, span} from '../format';
import {applyToRows, firstViewDrawn, useDrawn, useEvents, useFetched, useGet, useLinked, useList, useNow} from '../live';
import {link} from '../route';
import {Choice, Nothing, Panel, Shown} from '../ui/base';
import {PowerBar} from '../ui/drawings';
import {Elevations, type Place, placeOf} from '../ui/rack';
import {Legend, lookOf, Shape, State, Tally} from '../ui/state';
import {ByItselfTrouble} from './by_itself';

export const countsOf = (rows: Row[]): [string, number][] =>
  ['pass', 'fail', 'inconclusive', 'needs-operator', 'between-tries', 'running', 'waiting', 'ended']
    .map((state) => [state, rows.filter((row) => row.state === state).length]);

/// Of rows that say the same the old ones: what is drawn of them is not drawn again.
function keptWhereSame(old: Row[], rows: Row[]): Row[] {
  const known = new Map(old.map((row) => [row.node, row]));
  return rows.map((row) => {
    const before = known.get(row.node);
    return before && JSON.stringify(before) === JSON.stringify(row) ? before : row;
  });
}

/// The rows of several runs, by run; those that work are asked for again as events come.
export function useRowsOf(runs: number[]): Map<number, Row[]> {
  const [rows, set] = useState(new Map<number, Row[]>());
  const key = runs.join(',');
  const ask = (run: number) => getAll<Row>(rowsPath(run))
    .then((its) => set((old) => new Map(old).set(run, keptWhereSame(old.get(run) ?? [], its)))).catch(() => set((old) => old.has(run) ? old : new Map(old).set(run, [])));  // shown as without a run
  const asked = useRef(new Set<number>());
  useLayoutEffect(() => {
    for (const run of runs) if (!asked.current.has(run)) void ask(run);
    asked.current = new Set(runs);
  }, [key]);
  useLinked(() => { for (const run of runs) void ask(run); });
  const [late, setLate] = useState(new Set<number>());
  useEvents((event) => {
    if (!runs.includes(event.run)) return;
    set((old) => old.has(event.run) ? new Map(old).set(event.run, applyToRows(old.get(event.run)!, event)) : old);
    setLate((old) => old.has(event.run) ? old : new Set(old).add(event.run));
  });
  useEffect(() => {
    if (!late.size) return;
    const timer = window.setTimeout(() => { for (const run of late) void ask(run); setLate(new Set()); }, 1500);
    return () => clearTimeout(timer);
  }, [late]);
  return rows;
}

function Active({run, rows}: {run: Run; rows: Row[]}) {
  const detail = useGet<RunDetail>(useDrawn() ? `/runs/${run.run}` : undefined, {run: run.run, pause: 2000, every: 15_000}).data;
  const now = useNow(1000);
  const ends = at(detail?.ends);
  const held = Object.entries(detail?.approvals ?? {});
  return <a class="card" href={link('runs', run.run)}>
    <span class="top"><b>Run {run.run}</b> {run.playbook}<span class="grow" />
      <State state={detail?.standing?.paused ? 'paused' : run.state} /></span>
    <Tally counts={countsOf(rows)} total={rows.length} />
    <span class="facts">
      {countsOf(rows).filter(([, n]) => n > 0).map(([state, n]) => <span key={state}><Shape state={state} size={12} /> <b>{n.toLocaleString('en')}</b> {state.replace(/-/g, ' ')}</span>)}
    </span>
    <span class="facts dim">
      <span>since {clock(at(run.began), false)} ({span((now - at(run.began)) / 1000)})</span>
      {isFinite(ends) && <span>ends about {clock(ends, false)}{ends > now ? ` (in ${span((ends - now) / 1000)})` : ''}</span>}
      {held.length > 0 && <span class="t-hand">{held.map(([step, n]) => `${n} wait for approval of ${step}`).join(', ')}</span>}
    </span>
  </a>;
}

/// What the nodes of several runs are planned to draw together. A run whose power is not known is left out.
async function powerOf(runs: string): Promise<PowerNow> {
  const asked = await Promise.allSettled(runs.split(',').map((run) => get<PowerNow>(`/runs/${run}/power`)));
  const known = asked.filter((each) => each.status === 'fulfilled').map((each) => each.value);
  const refused = asked.find((each) => each.status === 'rejected');
  if (!known.length && refused) throw refused.reason;
  const levels = new Map<string, PowerNow['levels'][number]>();
  for (const level of known.flatMap((each) => each.levels)) {
    const key = `${level.kind} ${level.name}`, before = levels.get(key);
    levels.set(key, before ? {...before, planned_watts: before.planned_watts + level.planned_watts} : level);
  }
  return {levels: [...levels.values()]};
}

function Power({runs}: {runs: number[]}) {
  const known = useFetched<PowerNow>(runs.length ? runs.join(',') : undefined, powerOf, {run: 'any', pause: 2000, every: 10_000});
  const [kind, setKind] = useState<'breaker' | 'pdu' | 'rack' | 'room'>('breaker');
  if (!runs.length) return <Nothing>No run draws power now.</Nothing>;
  return <Shown of={known}>{({levels}) => {
    const kinds = (['breaker', 'pdu', 'rack', 'room'] as const).filter((each) => levels.some((level) => level.kind === each));
    const shown = kinds.includes(kind) ? kind : kinds[0];
    if (!shown) return <Nothing>The inventory has no power tree.</Nothing>;
    const its = levels.filter((level) => level.kind === shown)
      .sort((a, b) => b.planned_watts / (b.limit_watts || Infinity) - a.planned_watts / (a.limit_watts || Infinity));
    return <>
      <Choice label="level of the power tree" of={kinds.map((each) => [each, each === 'pdu' ? 'PDU' : each] as const)} value={shown} onChange={setKind} />
      <div class="bars">{its.slice(0, 24).map((level) => <PowerBar key={level.name} name={level.name} kind={level.kind} drawn={level.planned_watts}
        {...(level.limit_watts ? {limit: level.limit_watts} : {})} />)}</div>
      {its.length > 24 && <p class="quiet">and {its.length - 24} more with a smaller share</p>}
    </>;
  }}</Shown>;
}

/// One node alone is alike to none; it is among what needs an operator.
export const failuresAlike = (run: RunDetail) => (run.failures ?? []).filter((group) => (group.nodes?.length ?? 0) > 1);

/// Each in the words of the first of its nodes.
export function FailureList({run}: {run: RunDetail}) {
  return <ul class="list">{failuresAlike(run).map((group, i) => <li key={i}>
    <Shape state="fail" /><div><b>{group.text || group.cause || 'failed'}</b> <span class="dim">at {group.step}{group.text && <>, said of <a href={link('runs', run.run, 'nodes', group.nodes[0]!)}>{group.nodes[0]}</a></>}</span>
      <div>{folded(group.nodes)} <span class="dim">({group.nodes.length} of {group.ended ?? run.nodes} that did it)</span></div>
      {(group.clusters ?? []).map((cluster, c) => <div class="note" key={c}>{String(cluster['words'] ?? cluster.text ?? `${cluster['trait'] ?? ''} ${cluster['value'] ?? ''}`)}</div>)}
    </div></li>)}</ul>;
}

function FailuresOf({run}: {run: number}) {
  const known = useGet<RunDetail>(`/runs/${run}`, {run, pause: 4000}).data;
  if (!known || !failuresAlike(known).length) return null;
  return <Panel title={`Failures alike in run ${run}`}><FailureList run={known} /></Panel>;
}

/// What the server has of the node, unless the run shown of it judged it later, or works. A newer run that judged nothing
/// (`newest`) hides no verdict; its row says "pass" where it did all its steps.
export const resultOf = (result: NodeResult | undefined, node: SiteNode | undefined, shown: number | undefined): NodeResult | undefined => {
  if (!result || node?.run !== (result.newest ?? result.run)) return undefined;
  return shown === undefined || shown < result.run || shown <= (result.newest ?? 0) ? result : undefined;
};

/// All pages of the results, and whether the server has more to read before it has all.
export async function allResults(path: string): Promise<{items: NodeResult[]; due: boolean}> {
  const items: NodeResult[] = [];
  for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
    const page: {items: NodeResult[]; next?: string; incomplete?: boolean} = await get(next === undefined ? path : `${path}&cursor=${encodeURIComponent(next)}`);
    if (first && page.next === undefined) return {items: page.items, due: page.incomplete === true};
    items.push(...page.items);
    next = page.items.length ? page.next : undefined;
    if (page.incomplete) return {items, due: true};
  }
  return {items, due: false};
}

/// Where the inventory has it, and how its newest run left it.
const joined = (node: SiteNode | undefined, now: {row: Row; run: number} | undefined, result: NodeResult | undefined): Place => ({
  state: 'none', name: node?.name ?? '',
  ...(result ? {state: result.state, run: result.run, ...(result.cause ? {note: result.cause} : {})} : now ? placeOf(now.row, now.run) : {}),
  ...(node?.rack ? {rack: node.rack} : {}), ...(node?.unit ? {unit: node.unit} : {}), ...(node?.height ? {height: node.height} : {}),
});

const kFewRacks = 3, kMostCauses = 12;
const kTroubles = ['needs-operator', 'fail', 'inconclusive', 'between-tries'];

/// Beside a few racks: why nodes did not pass, the worst first.
function Troubles({places}: {places: Place[]}) {
  const bad = places.filter((place) => kTroubles.includes(place.state)).sort((a, b) => kTroubles.indexOf(a.state) - kTroubles.indexOf(b.state) || natural(a.name, b.name));
  return <ul class="list" aria-label="nodes that did not pass">{bad.slice(0, kMostCauses).map((place) => <li key={place.name}><Shape state={place.state} /><div>
    <a href={place.run ? link('runs', place.run, 'nodes', place.name) : link('nodes', place.name)}>{place.name}</a> <span class="dim">{lookOf(place.state).word}{place.unit ? `, rack ${place.rack}, unit ${place.unit}` : ''}</span>
    {place.note && <div>{place.note}</div>}</div></li>)}
    {bad.length > kMostCauses && <li class="dim">and {bad.length - kMostCauses} more</li>}</ul>;
}

export function Overview({who}: {who: Whoami}) {
  const inventory = useGet<Inventory>(kInventory, {every: 300_000});
  const nodes = useList<SiteNode>(kNodes, {every: 120_000});
  const runs = useList<Run>(kRuns, {run: 'any', pause: 3000, every: 30_000});
  const drawn = useDrawn();
  const actions = useGet<{actions: OperatorAction[]}>(drawn ? '/actions' : undefined, {run: 'any', pause: 5000, every: 30_000});
  const active = (runs.data ?? []).filter(isActive);
  const wanted = useMemo(() => runsToShow(active.map((run) => run.run), nodes.data ?? []), [runs.data, nodes.data]);
  const rows = useRowsOf(wanted);
  const older = useMemo(() => (nodes.data ?? []).filter((node) => node.run !== undefined && !wanted.includes(node.run)), [nodes.data, wanted]);
  // Behind the first view. The server reads them piece by piece: it is asked again at once while more is due.
  const [due, setDue] = useState(false);
  const results = useFetched<NodeResult[]>(drawn && nodes.data?.length ? '/results?limit=10000' : undefined, (path) => allResults(path)
    .then((all) => { setDue(all.due); return all.items; }, (problem) => { setDue(false); throw problem; }), {every: due ? 1000 : 20_000});
  const old = useMemo(() => new Map((results.data ?? []).map((each) => [each.node, each])), [results.data]);
  const known = useRef(new Map<string, {row: Row | undefined; node: SiteNode | undefined; result: NodeResult | undefined; place: Place}>());
  const places = useMemo(() => {
    const newest = new Map<string, {row: Row; run: number}>();
    for (const run of [...wanted].sort((a, b) => a - b)) for (const row of rows.get(run) ?? []) newest.set(row.node, {row, run});
    const before = known.current;
    known.current = new Map();
    const placeFor = (name: string, node?: SiteNode): Place => {
      const now = newest.get(name), last = before.get(name), result = resultOf(old.get(name), node, now?.run);
      newest.delete(name);
      const kept = last && last.row === now?.row && last.node === node && last.result === result
        ? last : {row: now?.row, node, result, place: joined(node, now, result)};
      known.current.set(name, kept);
      return kept.place;
    };
    const listed = (nodes.data ?? []).map((node) => placeFor(node.name, node));
    return [...listed, ...[...newest.keys()].map((name) => placeFor(name))];
  }, [rows, nodes.data, wanted, old]);
  // Drawn once it is known how the nodes stand: a thousand of them take as long as the answers do.
  const ready = useRef(false);
  ready.current ||= nodes.data !== undefined && (runs.data !== undefined || runs.problem !== undefined) && wanted.every((run) => rows.has(run));
  const shown = ready.current || nodes.problem !== undefined;
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(firstViewDrawn);
    return () => clearTimeout(timer);
  }, [shown]);
  const units = useMemo(() => inventory.data?.racks ?? [], [inventory.data]);
  const late = active.flatMap((run) => (rows.get(run.run) ?? []).filter((row) => row.overdue).map((row) => ({...row, run: run.run})));
  // Only of runs that are over: before, the clusters may still change.
  const failed = (runs.data ?? []).filter((run) => (run.state === 'ended' || run.state === 'cancelled') && run.pass < run.nodes).slice(0, 3);
  const missing = results.data ? older.filter((node) => !old.has(node.name)).length : 0;
  const few = new Set(places.map((place) => place.rack)).size <= kFewRacks && places.some((place) => kTroubles.includes(place.state));
  const states = [...new Set(places.map((place) => place.state))];

  return <div class="overview">
    <h1 class="unseen">Overview</h1>
    <div class="main">
      {active.length > 0
        ? <div class="cards">{active.map((run) => <Active key={run.run} run={run} rows={rows.get(run.run) ?? []} />)}</div>
        : runs.data && <p class="calm">No run is active.{who.role !== 'viewer' && <> <a href={link('start')}>Start one</a></>}</p>}
      <Panel title={`Racks`} aside={<Legend states={states.length ? states : ['none']} />}>
        {nodes.problem && !places.length ? <Shown of={nodes}>{() => null}</Shown>
          : ready.current && places.length ? <div class={few ? 'few' : ''}><div><Elevations racks={units} places={places} /></div>{few && <Troubles places={places} />}</div> : <p class="quiet" role="status">{nodes.loading || places.length ? 'Loading…' : 'The inventory has no nodes.'}</p>}
        {missing > 0 && <p class="quiet" role="status">{plural(missing, 'node')} without a state here: their newest run is not over, or not read yet.</p>}
      </Panel>
    </div>
    <div class="side">
      <Panel title="Needs an operator" aside={<a href={link('actions')}>walking list</a>}>
        <Shown of={actions}>{({actions: its}) => its.length
          ? <ul class="list">{its.slice(0, 8).map((each, i) => <li key={i}><Shape state="needs-operator" /><div>
              <a href={link('runs', each.run, 'nodes', each.node)}>{each.node}</a>{each.part && <> <b>{each.part}</b></>} <span class="dim">{each.rack && `rack ${each.rack}`}{each.unit ? `, unit ${each.unit}` : ''}</span>
              <div>{each.action}</div></div></li>)}
            {its.length > 8 && <li class="dim">and {its.length - 8} more</li>}</ul>
          : <Nothing>Nothing to do.</Nothing>}</Shown>
      </Panel>
      {late.length > 0 && <Panel title="Overdue"><ul class="list">{late.slice(0, 10).map((row) => <li key={row.node}><Shape state="overdue" /><div>
        <a href={link('runs', row.run, 'nodes', row.node)}>{row.node}</a> {row.step} <span class="dim">since {clock(at(row.step_began), false)}</span></div></li>)}</ul></Panel>}
      {drawn && failed.map((run) => <FailuresOf key={run.run} run={run.run} />)}
      {drawn && <ByItselfTrouble />}
      <Panel title="Power against limits">{drawn ? <Power runs={active.map((run) => run.run)} /> : <p class="quiet" role="status">Loading…</p>}</Panel>
      <Panel title="Newest runs" aside={<a href={link('runs')}>all</a>}>
        <Shown of={runs}>{(its) => its.length ? <ul class="list">{its.slice(0, 6).map((run) => <li key={run.run}><Shape state={run.state === 'ended' ? run.fail ? 'fail' : run.inconclusive ? 'inconclusive' : 'pass' : run.state} />
          <div><a href={link('runs', run.run)}>Run {run.run}</a> {run.playbook} <span class="dim">{moment(run.began)}</span>
            <div class="dim">{plural(run.nodes, 'node')}: {run.pass} pass, {run.fail} fail, {run.inconclusive} inconclusive</div></div></li>)}</ul> : <Nothing>No run yet.</Nothing>}</Shown>
      </Panel>
    </div>
  </div>;
}
