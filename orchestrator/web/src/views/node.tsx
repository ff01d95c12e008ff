// One node in one run: why it has its verdict, each number against its criterion and the fleet, its parts, its past.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {type Cause, type Checked, type ConsoleText, evidencePath, get, getAll, type NodeRecord, nodePath, type Part, type PastRun, type Row, type Sample, type SiteNode, type StepSpan, text, type Whoami} from '../api';
import {at, bytes, clock, moment, natural, number, plural, span} from '../format';
import {useGet, useList} from '../live';
import {link} from '../route';
import {reasonsOf, type Telemetry, telemetryOf} from '../telemetry';
import {announce, Button, Choice, Nothing, Panel, Shown, Trouble} from '../ui/base';
import {CommandDialog, Locate, mayChange, type Wish} from '../ui/command';
import {Heat, Strip} from '../ui/drawings';
import {Plot} from '../ui/plot';
import {lookOf, Shape, State} from '../ui/state';
import {Log} from './run';

const Evidence = ({run, hash}: {run: number; hash?: string}) => hash
  ? <a class="hash" href={evidencePath(run, hash)} download={`evidence-${hash.slice(0, 12)}.txt`} title={`raw output, SHA-256 ${hash}`}>{hash.slice(0, 12)}</a> : null;

function Causes({run, causes}: {run: number; causes: Cause[]}) {
  const name = (cause: Cause) => `${cause.part ? `${cause.part}: ` : ''}${cause.criterion}`;
  const first = causes.filter((cause) => !cause.consequence_of);
  return <ol class="causes">{first.map((cause, i) => {
    const explains = causes.filter((each) => each.consequence_of === name(cause));
    return <li key={i}><Shape state={cause.decision === 'fail' ? 'fail' : 'inconclusive'} size={18} /><div>
      <h3>{cause.part && <b>{cause.part}</b>} {cause.criterion}</h3>
      <p>{cause.measured && <>measured <b>{cause.measured}</b></>}{cause.expected && <>, expected {cause.expected}</>}{cause.place && <span class="dim"> ({cause.place})</span>}</p>
      {cause.remedy && <p class="remedy">{cause.remedy}</p>}
      <p class="dim">{(cause.stages?.length ?? 0) > 0 && <>seen in {cause.stages!.join(', ')}. </>}{cause.evidence && <>Evidence <Evidence run={run} hash={cause.evidence} /></>}</p>
      {explains.length > 0 && <details><summary>explains {plural(explains.length, 'more finding')}</summary><ul>{explains.map((each, e) => <li key={e}>{name(each)}: {each.measured}, expected {each.expected}</li>)}</ul></details>}
    </div></li>;
  })}</ol>;
}

/// True once the element came into view.
function useSeen() {
  const element = useRef<HTMLDivElement>(null);
  const [seen, set] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) { set(true); observer.disconnect(); } }, {rootMargin: '200px'});
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return [element, seen] as const;
}

function FleetStrip({run, node, group}: {run: number; node: string; group: Group}) {
  const [element, seen] = useSeen();
  const [values, set] = useState<number[]>();
  useEffect(() => {
    if (!seen) return;
    getAll<Sample>(`/runs/${run}/measurements?measure=${encodeURIComponent(group.measure)}&stage=${encodeURIComponent(group.stage)}&limit=1000`, 10_000)
      .then((all) => set(all.filter((each) => each.node !== node && each.value !== null).map((each) => each.value!))).catch(() => set([]));
  }, [seen, run, node, group.measure, group.stage]);
  const limits = group.items[0]!;
  return <div class="fleet" ref={element}>{values && <Strip label={`${group.measure} of ${node} among the run's nodes`} values={values} own={group.items.flatMap((each) => each.value !== undefined ? [each.value] : [])}
    {...(limits.at_least !== undefined && !limits.unit_of_limits ? {low: limits.at_least} : {})} {...(limits.at_most !== undefined && !limits.unit_of_limits ? {high: limits.at_most} : {})} {...(limits.unit ? {unit: limits.unit} : {})} />}</div>;
}

interface Group { stage: string; measure: string; items: Checked[]; met: boolean; worst: Checked }

function groupsOf(checked: Checked[]): Group[] {
  const all = new Map<string, Group>();
  for (const each of checked) {
    const key = `${each.stage}\n${each.measure}\n${each.expected ?? ''}`;
    const group = all.get(key);
    if (!group) all.set(key, {stage: each.stage, measure: each.measure, items: [each], met: each.met, worst: each});
    else {
      group.items.push(each);
      group.met &&= each.met;
      if ((!each.met && group.worst.met) || (each.met === group.worst.met && (each.margin ?? Infinity) < (group.worst.margin ?? Infinity))) group.worst = each;
    }
  }
  return [...all.values()];
}

/// Numbers of a part of which none came: a GPU that is not there. Each of them for itself would hide the cause.
interface Silent { part: string; items: Checked[] }

const isMissing = (each: Checked) => !each.met && each.value === undefined;

/// As report/fold_equal.h's without_silent: parts with more than three numbers, all of them missing, and pairs with such a part.
function withoutSilent(checked: Checked[]): {silent: Silent[]; others: Checked[]} {
  const missing = new Map<string, number>(), heard = new Set<string>();
  for (const each of checked) if (isMissing(each)) missing.set(each.part ?? '', (missing.get(each.part ?? '') ?? 0) + 1); else heard.add(each.part ?? '');
  const silent = new Map<string, Silent>();
  for (const [part, count] of missing) if (part && count > 3 && !heard.has(part)) silent.set(part, {part, items: []});
  const partOf = (each: Checked) => {
    if (!isMissing(each) || !each.part) return undefined;
    const words = each.part.split('-');
    for (let i = 1; i < words.length; ++i) for (const end of [words.slice(0, i).join('-'), words.slice(i).join('-')]) if (silent.has(end)) return silent.get(end);
    return silent.get(each.part);
  };
  const others = checked.filter((each) => { const its = partOf(each); its?.items.push(each); return !its; });
  return {silent: [...silent.values()], others};
}

/// One row, and below it on demand the numbers that did not come. Here, in Numbers and of Steps the roles are named because a phone's
/// layout takes those of a table away.
function SilentRows({silent, open, onOpen}: {silent: Silent; open: boolean; onOpen: () => void}) {
  const {part, items} = silent;
  return <>
    <tr role="row" class="bad">
      <td role="cell"><Shape state="fail" /><span class="unseen">not met</span></td><td role="cell">{plural(new Set(items.map((each) => each.stage)).size, 'stage')}</td><td role="cell">{plural(items.length, 'number')}</td>
      <td role="cell"><button type="button" class="more" aria-expanded={open} onClick={onOpen}>{open ? '▾' : '▸'} {part}</button></td><td role="cell" class="num">nothing</td><td role="cell">a number each</td><td role="cell" />
    </tr>
    {open && items.map((each) => <tr role="row" key={`${each.stage}|${each.measure}|${each.part}|${each.expected ?? ''}`} class="sub bad"><td role="cell" /><td role="cell">{each.stage}</td><td role="cell">{each.measure}</td><td role="cell">{each.part}</td><td role="cell" class="num">{each.measured}</td><td role="cell" class="dim">{each.expected}</td><td role="cell" class="dim">{each.source}</td></tr>)}
  </>;
}

function Numbers({record}: {record: NodeRecord}) {
  const [needle, setNeedle] = useState('');
  const [which, setWhich] = useState<'all' | 'bad'>('all');
  const [open, setOpen] = useState<string>();
  const [most, setMost] = useState(60);
  const {silent, others} = useMemo(() => withoutSilent(record.checked), [record.checked]);
  const groups = useMemo(() => groupsOf(others).sort((a, b) => Number(a.met) - Number(b.met)), [others]);
  const wanted = needle.trim().toLowerCase();
  const mute = silent.filter((each) => !wanted || each.items.some((its) => `${its.stage} ${its.measure} ${its.part}`.toLowerCase().includes(wanted)));
  const shown = groups.filter((group) => (which === 'all' || !group.met) && (!wanted || `${group.stage} ${group.measure} ${group.items.map((each) => each.part).join(' ')}`.toLowerCase().includes(wanted)));
  return <>
    {record.slow && <><p>Slow, which fails nothing:</p><ul>{record.slow.slice(0, 20).map((each) => <li key={`${each.stage}|${each.measure}|${each.part}`}>{each.stage}: {each.text}</li>)}</ul>
      {record.slow.length > 20 && <p class="dim">and {record.slow.length - 20} more: cupel show {record.node} --all</p>}</>}
    <div class="tools">
      <Choice label="which numbers" of={[['all', `All (${groups.length + silent.length})`], ['bad', `Not met (${groups.filter((group) => !group.met).length + silent.length})`]] as const} value={which} onChange={setWhich} />
      <input type="search" placeholder="stage, measure, part" aria-label="Filter the numbers" value={needle} onInput={(event) => setNeedle(event.currentTarget.value)} />
    </div>
    <div class="scroll numbersbox" tabIndex={0} role="region" aria-label="numbers"><table class="numbers" role="table">
      <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">met</th><th role="columnheader" scope="col">stage</th><th role="columnheader" scope="col">measure</th><th role="columnheader" scope="col">part</th><th role="columnheader" scope="col" class="num">measured</th><th role="columnheader" scope="col">expected</th><th role="columnheader" scope="col">among the fleet</th></tr></thead>
      <tbody role="rowgroup">{mute.map((each) => <SilentRows key={each.part} silent={each} open={open === each.part} onOpen={() => setOpen(open === each.part ? undefined : each.part)} />)}
        {shown.slice(0, most).map((group) => {
        const key = `${group.stage}|${group.measure}|${group.worst.expected ?? ''}`;
        const worst = group.worst;
        return <>
          <tr role="row" key={key} class={group.met ? '' : 'bad'}>
            <td role="cell"><Shape state={group.met ? 'pass' : 'fail'} /><span class="unseen">{group.met ? 'met' : 'not met'}</span></td>
            <td role="cell">{group.stage}</td><td role="cell">{group.measure}</td>
            <td role="cell">{group.items.length > 1 ? <button type="button" class="more" aria-expanded={open === key} onClick={() => setOpen(open === key ? undefined : key)}>{open === key ? '▾' : '▸'} {group.items.length} parts{worst.part ? <span class="dim">, worst {worst.part}</span> : ''}</button> : worst.part || 'node'}</td>
            <td role="cell" class="num">{worst.measured}</td><td role="cell" title={worst.source}>{worst.expected}</td>
            <td role="cell"><FleetStrip run={record.run} node={record.node} group={group} /></td>
          </tr>
          {open === key && group.items.map((each) => <tr role="row" key={`${key}|${each.part}`} class={`sub${each.met ? '' : ' bad'}`}>
            <td role="cell"><Shape state={each.met ? 'pass' : 'fail'} size={11} /><span class="unseen">{each.met ? 'met' : 'not met'}</span></td><td role="cell" /><td role="cell" class="dim">{each.place}</td><td role="cell">{each.part || 'node'}</td><td role="cell" class="num">{each.measured}</td>
            <td role="cell" class="dim">{each.margin !== undefined ? `margin ${number(each.margin)} ${each.unit ?? ''}` : ''}</td><td role="cell" class="dim">{each.source}</td></tr>)}
        </>;
      })}</tbody></table></div>
    {shown.length > most && <p><Button onClick={() => setMost(most + 200)}>Show {Math.min(200, shown.length - most)} more</Button></p>}
    {!shown.length && !mute.length && <Nothing>{record.checked.length ? 'No number is in this list.' : 'No criterion has been judged yet.'}</Nothing>}
  </>;
}

function Matrix({record}: {record: NodeRecord}) {
  const all = Object.entries(record.stages).flatMap(([stage, its]) => (its.measurements ?? []).filter((each) => each.name.endsWith('.pair.bandwidth') && each.part?.includes('-')).map((each) => ({...each, stage})));
  const stages = [...new Set(all.map((each) => `${each.stage}: ${each.name}`))];
  const [chosen, setChosen] = useState(stages[0] ?? '');
  if (!stages.length) return null;
  const its = all.filter((each) => `${each.stage}: ${each.name}` === (stages.includes(chosen) ? chosen : stages[0]));
  const pairs = new Map<string, number>();
  const names = new Set<string>();
  for (const each of its) {
    const [from = '', to = ''] = each.part!.split('-');
    if (each.value !== null) pairs.set(`${from} ${to}`, each.value);
    names.add(from);
    names.add(to);
  }
  return <Panel title="GPU to GPU" aside={stages.length > 1 && <select aria-label="which matrix" value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>{stages.map((each) => <option key={each}>{each}</option>)}</select>}>
    <Heat names={[...names].sort(natural)} unit={its[0]?.unit ?? 'GB/s'} label={`bandwidth from GPU to GPU in ${its[0]?.unit ?? 'GB/s'}`} at={(row, column) => pairs.get(`${row} ${column}`) ?? pairs.get(`${column} ${row}`)} />
    <p class="dim">{its[0]?.unit ?? 'GB/s'}, {its[0]?.name}. ▾ marks what is more than 10 % below the best pair.</p>
  </Panel>;
}

const kTones = ['--c0', '--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7'];

function TelemetryPanel({record}: {record: NodeRecord}) {
  const burned = Object.entries(record.stages).filter(([, its]) => its.evidence && (its.measurements ?? []).some((each) => each.name === 'gpu.power' && each.part));
  const [stage, setStage] = useState('');
  const chosen = burned.find(([name]) => name === stage) ?? burned.find(([name]) => name.startsWith('gemm')) ?? burned[0];
  const [data, set] = useState<{of: string; telemetry?: Telemetry; why?: string}>();
  const [element, seen] = useSeen();
  const [what, setWhat] = useState<'power' | 'temperature' | 'memory' | 'clock'>('power');
  const places = Object.values(record.stages).flatMap((its) => its.parts ?? [])
    .filter((part) => part.kind === 'gpu' && /^[0-9a-f]{4,8}:[0-9a-f]{2}:/i.test(part.slot ?? '')).map((part): [string, string] => [part.slot!, part.name]);
  useEffect(() => {
    if (!seen || !chosen) return;
    const [name, its] = chosen;
    text(evidencePath(record.run, its.evidence!))
      .then((raw) => { const telemetry = telemetryOf(name, raw, places); set({of: name, ...(telemetry ? {telemetry} : {why: 'The stage took no samples.'})}); })
      .catch((problem) => set({of: name, why: problem.message}));
  }, [seen, chosen?.[0], record.run]);
  if (!chosen) return null;
  const known = data?.of === chosen[0] ? data : undefined;
  const unit = {power: 'W', temperature: '°C', memory: '°C', clock: 'MHz'}[what];
  return <Panel title="Telemetry of the GPUs" aside={<select aria-label="stage" value={chosen[0]} onChange={(event) => setStage(event.currentTarget.value)}>{burned.map(([name]) => <option key={name}>{name}</option>)}</select>}>
    <div ref={element}>
      <div class="tools"><Choice label="what is drawn" value={what} onChange={setWhat} of={[['power', 'Power'], ['temperature', 'GPU °C'], ['memory', 'HBM °C'], ['clock', 'SM clock']] as const} /></div>
      {known?.telemetry ? <>
        <Plot seconds x={known.telemetry.x} unit={(value) => `${number(value)} ${unit}`} label={`${what} of each GPU during ${chosen[0]}`}
          curves={known.telemetry.gpus.map((gpu, i) => ({label: gpu.name, values: gpu[what], color: kTones[i % kTones.length]!}))} />
        <ul class="reasons">{known.telemetry.gpus.map((gpu) => {
          const counts = new Map<string, number>();
          for (const mask of gpu.reasons) for (const reason of reasonsOf(mask)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
          return <li key={gpu.name}><b>{gpu.name}</b> {[...counts].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${reason} ${Math.round(count / gpu.reasons.length * 100)} %`).join(', ') || 'clocks not held down'}</li>;
        })}</ul></> : <p class="quiet" role="status">{known?.why ?? 'Loading…'}</p>}
    </div>
  </Panel>;
}

const kKindOrder = ['system', 'bmc', 'bios', 'cpu', 'gpu', 'nvswitch', 'dimm', 'hca', 'nic', 'nvme', 'psu', 'fan'];

function Parts({record}: {record: NodeRecord}) {
  const [needle, setNeedle] = useState('');
  const parts = useMemo(() => {
    const all = new Map<string, Part & {by: string[]}>();
    const add = (part: Part, by: string) => {
      const key = `${part.kind}\n${part.name}\n${part.serial ?? ''}`;
      const known = all.get(key);
      if (!known) all.set(key, {...part, by: [by]});
      else { if (!known.by.includes(by)) known.by.push(by); for (const [field, value] of Object.entries(part)) if (known[field] === undefined || known[field] === '') known[field] = value; }
    };
    for (const part of record.bmc_parts ?? []) add(part, 'BMC');
    for (const [stage, its] of Object.entries(record.stages)) for (const part of its.parts ?? []) add(part, stage);
    const rank = (kind: string) => { const place = kKindOrder.indexOf(kind); return place < 0 ? 99 : place; };
    return [...all.values()].sort((a, b) => rank(a.kind) - rank(b.kind) || natural(a.kind, b.kind) || natural(a.name, b.name));
  }, [record]);
  const wanted = needle.trim().toLowerCase();
  const shown = parts.filter((part) => !wanted || `${part.kind} ${part.name} ${part.model ?? ''} ${part.serial ?? ''} ${part.firmware ?? ''} ${part.slot ?? ''}`.toLowerCase().includes(wanted));
  return <Panel title="Parts and serial numbers" aside={<input type="search" placeholder="part, model, serial" aria-label="Filter the parts" value={needle} onInput={(event) => setNeedle(event.currentTarget.value)} />}>
    <div class="scroll tall" tabIndex={0} role="region" aria-label="parts"><table>
      <thead><tr><th scope="col">kind</th><th scope="col">name</th><th scope="col">model</th><th scope="col" class="num">size</th><th scope="col">serial</th><th scope="col">firmware</th><th scope="col">slot</th><th scope="col">seen by</th></tr></thead>
      <tbody>{shown.map((part, i) => <tr key={i}><td>{part.kind}</td><td>{part.name}</td><td>{part.model}</td><td class="num">{bytes(part.size_bytes)}</td><td><code>{part.serial}</code></td><td>{part.firmware}</td><td>{part.slot}</td><td class="dim">{part.by.slice(0, 3).join(', ')}{part.by.length > 3 ? ` +${part.by.length - 3}` : ''}</td></tr>)}</tbody></table></div>
    <p class="dim">{plural(shown.length, 'part')}</p>
  </Panel>;
}

const kConsolePiece = 262_144;  // bytes

interface Behind { file: number; text: string; next?: number }

/// What was read behind the first piece, and one piece more: of another recording it is the first; one that came twice is
/// not added again.
export const withPiece = (old: Behind | undefined, file: number, offset: number, piece: {text: string; next?: number}): Behind =>
  old?.file === file && old.next !== offset ? old
    : {file, text: (old?.file === file ? old.text : '') + piece.text, ...(piece.next !== undefined ? {next: piece.next} : {})};

/// Its first piece is kept fresh; what is behind is read piece by piece.
function Console({run, node}: {run: number; node: string}) {
  const [file, setFile] = useState<number>();
  const [read, setRead] = useState<Behind>();
  const path = `${nodePath(run, node)}/console?limit=${kConsolePiece}${file ? `&file=${file}` : ''}`;
  const known = useGet<ConsoleText>(path, {run, pause: 10_000});
  if (known.problem?.status === 404 || (known.data && !known.data.files.length)) return null;
  const more = read?.file === known.data?.file ? read : undefined;  // a newer recording begins as the node starts again
  const next = more ? more.next : known.data?.next;
  const go = (file: number, offset: number) => get<ConsoleText>(`${nodePath(run, node)}/console?limit=${kConsolePiece}&file=${file}&offset=${offset}`)
    .then((piece) => setRead((old) => withPiece(old, file, offset, piece)))
    .catch((problem) => announce(problem.message, true));
  return <Panel title="Serial console, as it was recorded" aside={(known.data?.files.length ?? 0) > 1 && <select aria-label="which recording" value={String(known.data!.file)} onChange={(event) => setFile(Number(event.currentTarget.value))}>
    {known.data!.files.map((each) => <option key={each.file} value={String(each.file)}>{each.file} ({bytes(each.bytes)})</option>)}</select>}>
    <Shown of={known}>{(data) => <><pre class="console" tabIndex={0} role="region" aria-label={`console of ${node}`}>{data.text}{more?.text}</pre>
      {next !== undefined && <p><Button onClick={() => go(known.data!.file, next)}>Show the next {bytes(kConsolePiece)}</Button></p>}</>}</Shown>
  </Panel>;
}

function History({node, run}: {node: string; run?: number}) {
  const known = useList<PastRun>(`/nodes/${encodeURIComponent(node)}/history?limit=100`, {run: 'any', pause: 10_000});
  return <Panel title="Its runs"><Shown of={known}>{(runs) => runs.length ? <ul class="list">{runs.map((each) => <li key={each.run}><Shape state={each.state} /><div>
    {each.run === run ? <b>Run {each.run}</b> : <a href={link('runs', each.run, 'nodes', node)}>Run {each.run}</a>} {each.playbook} <span class="dim">{moment(each.began)}</span> {lookOf(each.state).word}
    {run !== undefined && each.run !== run && <> <a class="dim" href={`${link('compare', Math.min(each.run, run), Math.max(each.run, run))}?node=${encodeURIComponent(node)}`}>compare</a></>}
    {each.cause && <div class="dim">{each.cause}</div>}
  </div></li>)}</ul> : <Nothing>No run has looked at this node yet.</Nothing>}</Shown></Panel>;
}

export function NodeView({run, node, who}: {run: number; node: string; who: Whoami}) {
  const known = useGet<NodeRecord>(nodePath(run, node), {run, pause: 4000});
  const rows = useList<Row>(`/runs/${run}/nodes?limit=10000`, {run, pause: 2000});
  const site = useGet<SiteNode>(`/nodes/${encodeURIComponent(node)}`);
  const spans = useList<StepSpan>(`/runs/${run}/steps?node=${encodeURIComponent(node)}&limit=10000`, {run, pause: 2000});
  const [wish, setWish] = useState<Wish>();
  const row = rows.data?.find((each) => each.node === node);
  const place = rows.data?.findIndex((each) => each.node === node) ?? -1;
  const next = place >= 0 ? rows.data?.[place + 1] : undefined, previous = place > 0 ? rows.data?.[place - 1] : undefined;
  return <div class="page">{!known.data && <h1>{node}</h1>}<Shown of={known}>{(record) => {
    const state = row?.state ?? (record.verdict === 'in work' ? 'running' : record.verdict);
    const open = record.steps.filter((each) => each.outcome !== 'done' && each.outcome !== 'skipped').map((each) => each.step);
    const times = new Map((spans.data ?? []).map((each) => [each.step, each]));
    return <>
      <div class="titlebar"><h1>{node}</h1><State state={row?.overdue ? 'overdue' : state} />{record.rehearsal && <span class="tag">rehearsal</span>}<span class="grow" />
        <div class="buttons">
          <Locate node={node} who={who} />
          {mayChange(who) && <Button onClick={() => setWish({command: 'retry', node, title: `Retry ${node}`, explain: 'The failed step, and what comes after it, is done again.'})}>Retry</Button>}
          {mayChange(who) && <a class="button" href={link('requalify', node)}>Requalify</a>}
          {mayChange(who) && open.length > 0 && <Button onClick={() => setWish({command: 'skip', node, steps: open, title: 'Skip a step', explain: `${node} goes on without it. The report says so, with your name and your reason.`})}>Skip a step</Button>}
          {previous && <a class="button bare" href={link('runs', run, 'nodes', previous.node)} aria-label={`previous node, ${previous.node}`}>‹</a>}
          {next && <a class="button bare" href={link('runs', run, 'nodes', next.node)} aria-label={`next node, ${next.node}`}>›</a>}
        </div></div>
      <p class="sub"><span><a href={link('runs', run)}>Run {run}</a></span>{site.data?.rack && <span>rack {site.data.rack}{site.data.unit ? `, unit ${site.data.unit}` : ''}</span>}
        {site.data && <span>{site.data.profile}</span>}{site.data?.serial && <span>serial <code>{site.data.serial}</code></span>}{(site.data?.feeds?.length ?? 0) > 0 && <span>fed by {site.data!.feeds!.join(', ')}</span>}
        {record.hand_off && record.hand_off !== 'none' && <span>hand-off: {record.hand_off}</span>}{row?.step && row.state === 'running' && <span>at <b>{row.step}</b></span>}{row?.waits_for && <span>waits for {row.waits_for}</span>}</p>
      {known.problem && <Trouble problem={known.problem} />}
      {record.causes.length > 0 && <Panel title={record.verdict === 'in work' ? 'So far' : `Why: ${record.verdict}`}><Causes run={run} causes={record.causes} /></Panel>}
      <div class="columns">
        <Matrix record={record} />
        <TelemetryPanel record={record} />
      </div>
      <Panel title="Numbers against their criteria"><Numbers record={record} /></Panel>
      <div class="columns major">
        <Panel title="Steps"><div class="scroll tall" tabIndex={0} role="region" aria-label="steps"><table class="done-steps" role="table"><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">step</th><th role="columnheader" scope="col">outcome</th><th role="columnheader" scope="col">began</th><th role="columnheader" scope="col" class="num">took</th><th role="columnheader" scope="col" class="num">tries</th><th role="columnheader" scope="col">detail</th><th role="columnheader" scope="col">raw output</th></tr></thead>
          <tbody role="rowgroup">{record.steps.map((step) => {
            const time = times.get(step.step);
            return <tr role="row" key={step.step}><td role="cell">{step.step}</td><td role="cell"><State state={step.outcome.replace(/ /g, '-') || (step.step === row?.step ? 'running' : 'open')} /></td><td role="cell">{time && step.outcome !== 'skipped' ? clock(at(time.began)) : ''}</td>
              <td role="cell" class="num">{time?.ended && step.outcome !== 'skipped' ? span((at(time.ended) - at(time.began)) / 1000) : ''}</td><td role="cell" class="num">{step.attempts || ''}</td><td role="cell">{step.detail}</td><td role="cell"><Evidence run={run} {...(record.stages[step.step]?.evidence ? {hash: record.stages[step.step]!.evidence!} : {})} /></td></tr>;
          })}</tbody></table></div></Panel>
        <History node={node} run={run} />
      </div>
      <Parts record={record} />
      <Console run={run} node={node} />
      <Panel flush title="Events of this node"><Log run={run} node={node} most={300} /></Panel>
      {wish && <CommandDialog run={run} wish={wish} who={who} onClose={() => { setWish(undefined); known.again(); rows.again(); }} />}
    </>;
  }}</Shown></div>;
}

/// A node that is named without a run: its newest one.
export function SiteNodeView({node}: {node: string}) {
  const known = useGet<SiteNode>(`/nodes/${encodeURIComponent(node)}`);
  return <div class="page"><h1>{node}</h1><Shown of={known}>{(site) => <>
    <p class="sub">{site.rack && <span>rack {site.rack}{site.unit ? `, unit ${site.unit}` : ''}</span>}<span>{site.profile}</span>{site.serial && <span>serial <code>{site.serial}</code></span>}</p>
    <History node={node} /></>}</Shown></div>;
}
