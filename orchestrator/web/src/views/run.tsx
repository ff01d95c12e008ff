// One run: its time line with the forecast, power under its limits, its log, and what an operator may ask of it.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {type Event, get, type Inventory, type Plan, reportPath, type Row, type RunDetail, type SiteNode, type StepSpan, type Whoami} from '../api';
import {at, clock, moment, natural, person, plural, span, watts, words} from '../format';
import {applyToRows, useEvents, useGet, useList, useNow} from '../live';
import {link} from '../route';
import {Button, Cell, Choice, Nothing, Panel, Rows, Shown} from '../ui/base';
import {CommandDialog, mayChange, type Wish} from '../ui/command';
import {Gantt} from '../ui/gantt';
import {type Curve, Plot} from '../ui/plot';
import {Shape, State, Tally} from '../ui/state';
import {countsOf, FailureList, failuresAlike} from './overview';
import {Approvals} from './runs';

const isOver = (state: string) => state === 'ended' || state === 'cancelled';
const kMostEvents = 20_000;
const kPlanBehind = 1.25;  // of the time that a run took, so much of its plan is drawn

/// The steps of all nodes, kept by events between two looks.
function applyToSpans(spans: StepSpan[], event: Event): StepSpan[] {
  if (!event.node || !event.step) return spans;
  if (event.kind === 'step_began') {
    const others = spans.filter((each) => each.node !== event.node || each.step !== event.step);
    return [...others, {node: event.node, step: event.step, outcome: '', began: event.time, attempts: Number(event.data['attempt'] ?? 1)}];
  }
  if (event.kind !== 'step_ended') return spans;
  return spans.map((each) => each.node === event.node && each.step === event.step
    ? {...each, ended: event.time, outcome: String(event.data['outcome'] ?? 'done'), detail: String(event.data['detail'] ?? '')} : each);
}

/// Watts over the run as the steps reserved them: each node its profile's idle power, and what its running step adds.
export function reserved(spans: StepSpan[], plan: Plan, nodes: SiteNode[], inventory: Inventory, level: string, until: number): {x: number[]; y: number[]} {
  const profiles = new Map(inventory.profiles.map((each) => [each.name, each]));
  const loads = new Map<string, number>();
  for (const group of plan.groups) for (const step of group.steps) if (typeof step.load === 'number') loads.set(step.step, step.load);
  const parents = new Map(inventory.power.map((each) => [each.name, each.parent]));
  const below = (feed?: string): boolean => { for (let name = feed, i = 0; name && i < 8; name = parents.get(name), ++i) if (name === level) return true; return false; };
  const its = new Map(nodes.filter((node) => (node.feeds ?? []).some(below) || node.rack === level).map((node) => [node.name, profiles.get(node.profile)]));
  const whole = its.size ? its : new Map(nodes.map((node) => [node.name, profiles.get(node.profile)]));
  let now = 0;
  for (const profile of whole.values()) now += profile?.idle_watts ?? 0;
  const changes: [number, number][] = [];
  for (const each of spans) {
    const profile = whole.get(each.node), load = loads.get(each.step) ?? 0;
    if (!profile || !load) continue;
    const draw = load * Math.max(0, (profile.peak_watts ?? 0) - (profile.idle_watts ?? 0));
    changes.push([at(each.began), draw], [each.ended ? at(each.ended) : until, -draw]);
  }
  changes.sort((a, b) => a[0] - b[0]);
  const x: number[] = changes.length ? [changes[0]![0] / 1000 - 0.001] : [], y: number[] = changes.length ? [now] : [];
  for (const [time, draw] of changes) {
    now += draw;
    if (x.length && x[x.length - 1] === time / 1000) y[y.length - 1] = now;
    else { x.push(time / 1000); y.push(now); }
  }
  return {x, y};
}

/// When the plan has how many watts. Of a run that is over, a plan that was much longer would press what it did into a corner.
export const drawnPlan = (watts: number[], began: number, step: number, ended: number): [time: number, watts: number][] =>
  watts.map((value, i): [number, number] => [began + i * step, value]).filter(([time]) => time <= began + (ended - began) * kPlanBehind);

function PowerCurve({run, plan, spans, over, now}: {run: RunDetail; plan?: Plan; spans: StepSpan[]; over: boolean; now: number}) {
  const inventory = useGet<Inventory>('/inventory');
  const nodes = useList<SiteNode>('/nodes?limit=1000');
  const levels = plan?.forecast?.power ?? [];
  const [name, setName] = useState('');
  const level = levels.find((each) => each.name === name) ?? levels[0];
  const second = Math.floor(now / 5000) * 5000;
  const curve = useMemo(() => {
    if (!plan || !level || !inventory.data || !nodes.data) return undefined;
    const measured = reserved(spans, plan, nodes.data, inventory.data, level.name, over ? Math.max(...spans.map((each) => at(each.ended ?? each.began))) : second);
    const began = at(run.began) / 1000, step = plan.forecast!.end_s / Math.max(1, level.watts.length);
    const last = measured.x[measured.x.length - 1] ?? 0;
    const ahead = drawnPlan(level.watts, began, step, over ? last : Infinity);
    const x = [...new Set([...measured.x, ...ahead.map(([time]) => time)])].sort((a, b) => a - b);
    let at1 = 0, at2 = 0;
    const drawn: (number | null)[] = [], planned: (number | null)[] = [];
    for (const time of x) {
      while (at1 < measured.x.length && measured.x[at1]! <= time) ++at1;
      while (at2 < ahead.length && ahead[at2]![0] <= time) ++at2;
      drawn.push(at1 && time <= last ? measured.y[at1 - 1]! : null);
      planned.push(at2 ? ahead[at2 - 1]![1] : null);
    }
    return {x, drawn, planned};
  }, [plan, level, inventory.data, nodes.data, spans, over ? 0 : second]);
  if (!level) return <Nothing>{plan ? 'The plan has no power tree.' : 'No forecast is at hand for this run.'}</Nothing>;
  const curves: Curve[] = curve ? [
    {label: 'reserved by steps', values: curve.drawn, color: '--run', fill: true, stepped: true},
    {label: 'as planned', values: curve.planned, color: '--dim', dashed: true, stepped: true},
    ...(level.limit_watts ? [{label: 'limit', values: curve.x.map(() => level.limit_watts!), color: '--fail'}] : []),
  ] : [];
  return <>
    <div class="tools"><label>Level <select value={level.name} onChange={(event) => setName(event.currentTarget.value)}>
      {levels.map((each) => <option key={each.name} value={each.name}>{each.level} {each.name}</option>)}</select></label>
      <span class="dim">idle {watts(level.idle_watts)}, peak {watts(level.peak_watts)}{level.limit_watts ? `, limit ${watts(level.limit_watts)}` : ''}{plan?.forecast && `, planned for ${span(plan.forecast.end_s)}`}</span></div>
    {curve && curve.x.length > 1 ? <Plot x={curve.x} curves={curves} unit={watts} label={`power of ${level.level} ${level.name} over the run`} /> : <Nothing>No step with load has begun.</Nothing>}
  </>;
}

function describe(event: Event): string {
  if (event.words) return event.words;
  const data = event.data;
  const parts = ['outcome', 'detail', 'why', 'reason', 'by'].map((key) => data[key]).filter((value): value is string => typeof value === 'string' && value !== '');
  return parts.join(': ') || (event.kind === 'wave_opened' ? plural(Number(data['nodes'] ?? 0), 'node') : '');
}

const toneOf = (event: Event): string => {
  const outcome = String(event.data['outcome'] ?? '');
  if (event.kind === 'step_ended') return outcome.replace(/ /g, '-') || 'done';
  return ({step_began: 'running', step_started: 'running', step_retried: 'between-tries', step_overdue: 'overdue', step_skipped: 'skipped', run_paused: 'paused', run_halted: 'needs-operator',
    run_ended: 'ended', run_cancelled: 'cancelled', run_interrupted: 'interrupted', step_shed: 'between-tries'} as Record<string, string>)[event.kind] ?? 'waiting';
};

export function useLog(run: number, node?: string): Event[] {
  const [events, set] = useState<Event[]>([]);
  useEffect(() => {
    let stopped = false;
    set([]);
    void (async () => {
      let after = 0;
      for (let all: Event[] = []; !stopped && all.length < kMostEvents;) {
        try {
          const page = await get<{items: Event[]; next?: number | string}>(`/runs/${run}/events?after=${after}&limit=1000${node ? `&node=${encodeURIComponent(node)}` : ''}`);
          all = [...all, ...page.items.map((each) => ({...each, kind: each.kind.replace(/-/g, '_')}))];
          const so_far = all;
          if (!stopped) set((old) => merge(so_far, old));
          if (page.next === undefined || !page.items.length) break;
          after = Number(page.next);
        } catch { break; }
      }
    })();
    return () => { stopped = true; };
  }, [run, node]);
  useEvents((event) => { if (event.run === run && (!node || event.node === node)) set((old) => merge(old, [event])); });
  return events;
}
function merge(first: Event[], second: Event[]): Event[] {
  const last = first[first.length - 1]?.sequence ?? 0;
  const more = second.filter((each) => each.sequence > last);
  return more.length ? [...first, ...more] : first;
}

export function Log({run, node, most = 420}: {run: number; node?: string; most?: number}) {
  const events = useLog(run, node);
  const [kind, setKind] = useState<'all' | 'trouble' | 'people' | 'ends'>('all');
  const [needle, setNeedle] = useState('');
  const shown = useMemo(() => {
    const wanted = needle.trim().toLowerCase();
    return events.filter((event) => {
      if (kind === 'trouble' && !(['step_retried', 'step_overdue', 'run_halted', 'step_shed', 'run_interrupted'].includes(event.kind) || (event.kind === 'step_ended' && event.data['outcome'] !== 'done'))) return false;
      if (kind === 'people' && typeof event.data['by'] !== 'string') return false;
      if (kind === 'ends' && event.kind !== 'step_ended') return false;
      return !wanted || `${event.node ?? ''} ${event.step ?? ''} ${words(event.kind)} ${describe(event)}`.toLowerCase().includes(wanted);
    }).reverse();
  }, [events, kind, needle]);
  return <>
    <div class="tools">
      <Choice label="which events" value={kind} onChange={setKind} of={[['all', 'All'], ['trouble', 'Trouble'], ['ends', 'Results'], ['people', 'By people']] as const} />
      <input type="search" placeholder="node, step, words" aria-label="Filter the events" value={needle} onInput={(event) => setNeedle(event.currentTarget.value)} />
      <span class="dim" role="status">{plural(shown.length, 'event')}</span>
    </div>
    <Rows two label="events, newest first" items={shown} height={26} most={most} keyOf={(event) => event.sequence} row={(event) => <>
      <Cell class="c-clock"><time dateTime={event.time}>{clock(at(event.time))}</time></Cell>
      {!node && <Cell class="c-node">{event.node ? <a href={link('runs', run, 'nodes', event.node)}>{event.node}</a> : 'run'}</Cell>}
      <Cell class="c-step">{event.step}</Cell>
      <Cell class="c-kind"><Shape state={toneOf(event)} size={12} /> {words(event.kind).replace(/^(step|run|node) /, '')}</Cell>
      <Cell class="c-words" title={describe(event)}>{describe(event)}</Cell>
    </>} />
  </>;
}

export function RunView({id, who}: {id: number; who: Whoami}) {
  const run = useGet<RunDetail>(`/runs/${id}`, {run: id, pause: 1500, every: 20_000});
  const over = run.data ? isOver(run.data.state) : false;
  const rows = useList<Row>(`/runs/${id}/nodes?limit=10000`, {run: id, pause: 1500, apply: applyToRows, ...(over ? {} : {every: 10_000})});
  const spans = useList<StepSpan>(`/runs/${id}/steps?limit=10000`, {run: id, pause: 3000, apply: applyToSpans});
  const plan = useGet<Plan>(`/runs/${id}/plan`);
  const now = useNow(over ? 60_000 : 1000);
  const [wish, setWish] = useState<Wish>();
  const [filter, setFilter] = useState<'all' | 'open' | 'bad'>('all');
  const [order, setOrder] = useState<'name' | 'state'>('name');
  const shown = useMemo(() => {
    const its = (rows.data ?? []).filter((row) => filter === 'all' || (filter === 'open'
      ? !['pass', 'fail', 'inconclusive', 'ended'].includes(row.state) : ['fail', 'inconclusive', 'needs-operator', 'between-tries'].includes(row.state) || row.overdue));
    const rank = (row: Row) => ['needs-operator', 'fail', 'inconclusive', 'between-tries', 'running', 'waiting', 'ended', 'pass'].indexOf(row.state);
    return its.sort((a, b) => (order === 'state' ? rank(a) - rank(b) : 0) || natural(a.node, b.node));
  }, [rows.data, filter, order]);

  return <div class="page">{!run.data && <h1>Run {id}</h1>}<Shown of={run}>{(detail) => {
    const standing = detail.standing ?? {};
    const ends = at(detail.ends);
    const paused = standing.paused === true;
    const halts = Object.entries(standing.halts ?? {});
    const approvals = Object.entries(detail.approvals ?? {});
    const bound = plan.data?.forecast?.bounds?.[0];
    const may = mayChange(who) && !over;
    return <>
      <div class="titlebar">
        <h1>Run {detail.run} <span class="light">{detail.playbook}</span></h1><State state={paused ? 'paused' : detail.state} />
        {detail.rehearsal && <span class="tag">rehearsal</span>}
        <span class="grow" />
        <div class="buttons">
          {may && detail.state === 'running' && (paused
            ? <Button kind="primary" onClick={() => setWish({command: 'unpause', title: 'Continue the run'})}>Continue</Button>
            : <Button onClick={() => setWish({command: 'pause', title: 'Pause the run', explain: 'Nothing new begins. What works on nodes goes on.'})}>Pause</Button>)}
          {may && <Button kind="danger" onClick={() => setWish({command: 'cancel', title: 'Cancel the run', danger: true, explain: 'Steps that work are ended, settings are put back, and the nodes are released. A run that was cancelled does not go on.'})}>Cancel</Button>}
          <a class="button" href={reportPath(id, 'html')} target="_blank" rel="noreferrer">Report</a>
          <a class="button" href={reportPath(id, 'csv')} download={`run-${id}.csv`}>CSV</a>
        </div>
      </div>
      <p class="sub">
        <span>{plural(detail.nodes, 'node')}</span><span>began {moment(detail.began)}{detail.by ? ` by ${person(detail.by)}` : ''}</span>
        {over ? <span>took {span(detail.seconds)}</span> : isFinite(ends) && <span>ends about {clock(ends, false)} ({ends > now ? `in ${span((ends - now) / 1000)}` : 'now'})</span>}
        {bound && !over && <span>no order of steps is quicker than {span(Number(bound['at_least_s']))}: {String(bound['because'] ?? '')}</span>}
      </p>
      <Tally counts={countsOf(rows.data ?? [])} total={rows.data?.length ?? 0} />
      <p class="facts">{countsOf(rows.data ?? []).filter(([, n]) => n > 0).map(([state, n]) => <span key={state}><State state={state} plain /> <b>{n.toLocaleString('en')}</b></span>)}</p>

      {(approvals.length > 0 || halts.length > 0 || (detail.held?.length ?? 0) > 0) && <Panel title="What the run waits for"><ul class="list">
        {approvals.map(([step, nodes]) => <li key={`a${step}`}><Shape state="needs-operator" /><div class="spread"><span><b>{step}</b> waits for approval <span class="dim">({plural(nodes, 'node')})</span></span>
          {may && <Button kind="primary" onClick={() => setWish({command: 'approve', step, title: `Approve ${step}`})}>Approve {step}</Button>}</div></li>)}
        {halts.map(([step, why]) => <li key={`h${step}`}><Shape state="needs-operator" /><div class="spread"><span><b>{step || 'canary'}</b> is halted <span class="dim">{why}</span></span>
          {may && <Button kind="primary" onClick={() => setWish({command: 'continue', ...(step ? {step} : {}), title: `Continue ${step || 'the canary'}`, explain: 'You have looked at the failures, and the rest may go on.'})}>Continue</Button>}</div></li>)}
        {(detail.held ?? []).map((held, i) => <li key={`w${i}`}><Shape state="waiting" /><div>{held.why} <span class="dim">({plural(held.nodes, 'node')}{held.first ? `, ${held.first} first` : ''})</span></div></li>)}
      </ul></Panel>}
      <Approvals who={who} />

      <Panel flush title="Time line" aside={<>
        <Choice label="which nodes" value={filter} onChange={setFilter} of={[['all', 'All'], ['open', 'In work'], ['bad', 'Trouble']] as const} />
        <Choice label="order of nodes" value={order} onChange={setOrder} of={[['name', 'By name'], ['state', 'By state']] as const} /></>}>
        <Shown of={rows}>{() => shown.length
          ? <Gantt run={id} rows={shown} spans={spans.data ?? []} {...(plan.data ? {plan: plan.data} : {})} began={at(detail.began)} {...(isFinite(ends) ? {ends} : {})} now={now} over={over} />
          : <Nothing>No node is in this list.</Nothing>}</Shown>
      </Panel>
      <div class="columns">
        <Panel title="Power under its limits"><PowerCurve run={detail} {...(plan.data ? {plan: plan.data} : {})} spans={spans.data ?? []} over={over} now={now} /></Panel>
        {failuresAlike(detail).length > 0 && <Panel title="Failures alike"><FailureList run={detail} /></Panel>}
      </div>
      <Panel flush title="Nodes"><NodeTable run={id} rows={shown} now={now} {...(may ? {onWish: setWish} : {})} /></Panel>
      <Panel flush title="Events"><Log run={id} /></Panel>
      {wish && <CommandDialog run={id} wish={wish} who={who} onClose={() => { setWish(undefined); run.again(); }} />}
    </>;
  }}</Shown></div>;
}

function NodeTable({run, rows, now, onWish}: {run: number; rows: Row[]; now: number; onWish?: (wish: Wish) => void}) {
  return <Rows two label="nodes of the run" items={rows} height={34} most={420} keyOf={(row) => row.node}
    head={<><Cell head class="c-node">node</Cell><Cell head class="c-state">state</Cell><Cell head class="c-step">step</Cell><Cell head class="c-span">since</Cell><Cell head class="c-done">steps</Cell><Cell head class="c-words">cause, or what it waits for</Cell>{onWish && <Cell head class="c-act">ask</Cell>}</>}
    row={(row) => <>
      <Cell class="c-node"><a href={link('runs', run, 'nodes', row.node)}>{row.node}</a></Cell>
      <Cell class="c-state"><State state={row.overdue ? 'overdue' : row.state} /></Cell>
      <Cell class="c-step">{row.step}{(row.attempt ?? 1) > 1 ? <span class="dim"> try {row.attempt}</span> : ''}</Cell>
      <Cell class="c-span">{row.state === 'running' && row.step_began ? span(Math.max(0, now - at(row.step_began)) / 1000) : ''}</Cell>
      <Cell class="c-done">{row.done}/{row.steps}</Cell>
      <Cell class="c-words" title={row.cause ?? row.waits_for ?? ''}>{row.cause ?? row.waits_for}</Cell>
      {onWish && <Cell class="c-act">{['fail', 'inconclusive', 'needs-operator', 'between-tries'].includes(row.state) && <>
        <Button kind="bare" label={`Retry ${row.node}`} onClick={() => onWish({command: 'retry', node: row.node, title: `Retry ${row.node}`, explain: 'The failed step, and what comes after it, is done again.'})}>Retry</Button>
        {row.step && <Button kind="bare" label={`Skip ${row.step} of ${row.node}`} onClick={() => onWish({command: 'skip', node: row.node, step: row.step!, title: `Skip ${row.step}`, explain: `${row.node} goes on without ${row.step}. The report says so, with your name and your reason.`})}>Skip</Button>}</>}</Cell>}
    </>} />;
}
