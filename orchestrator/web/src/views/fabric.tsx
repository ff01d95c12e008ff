// The fabric as a run found it: each rail of each node at its leaf, pairs of nodes, and what is suspected.
import {useMemo, useState} from 'preact/hooks';
import {type Cable, type Cause, get, type Run, type RunDetail, type Sample, type VerdictRow} from '../api';
import {folded, plural} from '../format';
import {useFetched, useGet, useList} from '../live';
import {go, link} from '../route';
import {Button, Nothing, Panel, Shown} from '../ui/base';
import {Leaves, type RailCell} from '../ui/leaves';
import {Shape} from '../ui/state';
import {Pairs} from './pairs';

/// What is measured at an HCA's port. Of `more` less is bad, of the others more.
interface Measure { name: string; word: string; more?: boolean; count?: boolean }
const kMeasures: Measure[] = [
  {name: 'fabric.link.bandwidth', word: 'bandwidth', more: true},
  {name: 'fabric.link.loss', word: 'bandwidth lost'},
  {name: 'fabric.link.retransmits', word: 'packets sent again', count: true},
  {name: 'fabric.cable.wrong', word: 'cables in a wrong port', count: true},
  {name: 'ib.port.symbol_errors.new', word: 'symbol errors in this run', count: true},
  {name: 'ib.port.receive_errors.new', word: 'receive errors in this run', count: true},
  {name: 'ib.port.downed.new', word: 'link losses in this run', count: true},
  {name: 'ib.port.symbol_errors', word: 'symbol errors, all', count: true},
  {name: 'ib.port.downed', word: 'link losses, all', count: true},
  {name: 'ib.port.rate', word: 'rate of the port', more: true},
];
const kOfFabric = new Set(['fabric.link.bandwidth', 'fabric.link.loss', 'fabric.link.retransmits', 'fabric.cable.wrong']);
const kCollective = 'nccl.all_reduce.busbw', kPair = 'tcp.throughput';
const kAsked = [...kMeasures.map((each) => each.name), kCollective, kPair];
const kMostSuspects = 12;  // before the rails below them
const kShort = 0.9;  // of the best of its rail

/// Which of them the run has.
const presentOf = async (path: string): Promise<string[]> => {
  const found = await Promise.all(kAsked.map((name) => get<{items: Sample[]}>(`${path}?measure=${encodeURIComponent(name)}&limit=1`)));
  return kAsked.filter((_, i) => found[i]!.items.length > 0);
};
const useSamples = (run: number | undefined, measure: string | undefined) =>
  useList<Sample>(run !== undefined && measure ? `/runs/${run}/measurements?measure=${encodeURIComponent(measure)}&limit=10000` : undefined, {run: run ?? 'any', pause: 5000});

const isOfFabric = (cause: Cause) => /^(fabric|nccl|tcp|ib)\./.test(cause.criterion_id ?? cause.criterion) || /^(fabric|nccl|tcp|ib)\./.test(cause.criterion)
  || ['link', 'switch-port'].includes(cause.subject?.kind ?? '') || /^(mlx5_|hca)/.test(cause.part ?? '');

interface Suspect { cause: Cause; nodes: string[] }

/// What is of a switch or a link stands in the verdict of each node behind it, and here once.
function suspectsOf(rows: VerdictRow[]): Suspect[] {
  const all = new Map<string, Suspect>();
  for (const row of rows) for (const cause of row.causes) {
    if (!isOfFabric(cause) || cause.consequence_of) continue;
    const key = `${cause.subject ? '' : row.node} ${cause.part} ${cause.criterion}`;
    const known = all.get(key);
    if (known) known.nodes.push(row.node);
    else all.set(key, {cause, nodes: [row.node]});
  }
  return [...all.values()].sort((a, b) => Number(b.cause.decision === 'fail') - Number(a.cause.decision === 'fail'));
}

function Suspects({rows, run}: {rows: VerdictRow[]; run: number}) {
  const [most, setMost] = useState(kMostSuspects);
  const all = suspectsOf(rows);
  if (!all.length) return <Nothing>No link, port or HCA is suspected in this run.</Nothing>;
  return <><ul class="list">{all.slice(0, most).map(({nodes, cause}, i) => <li key={i}><Shape state={cause.decision === 'fail' ? 'fail' : 'inconclusive'} /><div>
    {nodes.length === 1 && <><a href={link('runs', run, 'nodes', nodes[0]!)}>{nodes[0]}</a> </>}{cause.part && cause.part !== nodes[0] && <><b>{cause.part.replace(/^(port|link):/, '')}</b> </>}{cause.criterion}: {cause.measured}{cause.expected && <>, expected {cause.expected}</>}
    {nodes.length > 1 && <div>behind it: {folded(nodes)}</div>}
    <div class="dim">{cause.remedy}</div></div></li>)}</ul>
    {all.length > most && <p><Button onClick={() => setMost(all.length)}>Show {all.length - most} more</Button></p>}</>;
}

/// The newest value of each HCA, and whether it is bad by itself or named by a cause.
function cellsOf(samples: Sample[], measure: Measure, rows: VerdictRow[]): Map<string, RailCell> {
  const blamed = new Map<string, Cause>(rows.flatMap((row) => row.causes.filter(isOfFabric).map((cause) => [`${row.node}/${(cause.part ?? '').replace(/\/\d+$/, '')}`, cause] as const)));
  const values = new Map<string, Sample>();
  for (const sample of samples) {
    const key = (sample.subject ?? '').replace(/\/1$/, '');
    if (sample.value !== null && key.includes('/') && !key.startsWith('link:') && !((values.get(key)?.time ?? '') > (sample.time ?? ''))) values.set(key, sample);
  }
  const most = Math.max(0, ...[...values.values()].map((sample) => sample.value!));
  return new Map([...values].map(([key, sample]) => {
    const value = sample.value!, cause = blamed.get(key);
    const bad = cause !== undefined || (measure.more ? value < most * kShort : measure.count === true && value > 0);
    return [key, {value, unit: sample.unit ?? '', share: most > 0 ? value / most : 0, bad, ...(cause ? {why: cause.criterion} : {})}];
  }));
}

function Rails({run, present, rows}: {run: number; present: string[]; rows: VerdictRow[]}) {
  const [wanted, setWanted] = useState('');
  const choices = kMeasures.filter((each) => present.includes(each.name));
  const measure = choices.find((each) => each.name === wanted) ?? choices[0]!;
  const samples = useSamples(run, measure.name);
  const collective = useSamples(run, present.includes(kCollective) ? kCollective : undefined);
  const cables = useList<Cable>('/cables?limit=10000', {every: 300_000});
  const cells = useMemo(() => cellsOf(samples.data ?? [], measure, rows), [samples.data, measure, rows]);
  const nccl = useMemo(() => {
    const slow = new Set(rows.filter((row) => row.causes.some((cause) => cause.criterion.startsWith('nccl.'))).map((row) => row.node));
    return new Map((collective.data ?? []).filter((each) => each.value !== null).map((each) => [each.node, {value: each.value!, unit: each.unit ?? '', share: 0, bad: slow.has(each.node)}]));
  }, [collective.data, rows]);
  const ports = useMemo(() => new Set(rows.flatMap((row) => row.causes.map((cause) => cause.part ?? '').filter((part) => part.startsWith('port:')))), [rows]);
  return <Panel title={cables.data?.length ? 'Rails and leaves' : 'HCAs'} aside={<label class="dim">shown: <select value={measure.name} onChange={(event) => setWanted(event.currentTarget.value)}>
    {choices.map((each) => <option key={each.name} value={each.name}>{each.word}</option>)}</select></label>}>
    {!choices.some((each) => kOfFabric.has(each.name)) && <Nothing>This run measured no links between nodes: its plan has no fabric stage. Shown is what its nodes say of their ports.</Nothing>}
    <Shown of={samples}>{() => <Leaves run={run} cables={cables.data ?? []} cells={cells} collective={nccl} ports={ports} label={measure.word} />}</Shown>
  </Panel>;
}

export function Fabric({id}: {id?: number}) {
  const runs = useList<Run>('/runs?limit=200');
  const run = id ?? runs.data?.[0]?.run;
  const detail = useGet<RunDetail>(run !== undefined ? `/runs/${run}` : undefined, {run: run ?? 'any', pause: 5000});
  const present = useFetched<string[]>(run !== undefined ? `/runs/${run}/measurements` : undefined, presentOf, {run: run ?? 'any', pause: 5000});
  const verdicts = useList<VerdictRow>(run !== undefined ? `/runs/${run}/verdicts` : undefined, {run: run ?? 'any', pause: 5000});
  const rows = verdicts.data ?? [];
  return <div class="page"><div class="titlebar"><h1>Fabric</h1>{detail.data && <span class="dim">{plural(detail.data.nodes, 'node')}, {detail.data.state}</span>}<span class="grow" />
    <label>Run <select value={String(run ?? '')} onChange={(event) => go(link('fabric', event.currentTarget.value))}>{(runs.data ?? []).map((each) => <option key={each.run} value={String(each.run)}>{each.run} {each.playbook}</option>)}</select></label></div>
    {run === undefined ? runs.data && <Nothing>No run yet.</Nothing> : <>
      <Panel title="Suspects"><Shown of={verdicts}>{(all) => <Suspects rows={all} run={run} />}</Shown></Panel>
      <Shown of={present}>{(names) => <>
        {kMeasures.some((each) => names.includes(each.name)) ? <Rails run={run} present={names} rows={rows} />
          : !names.includes(kPair) && <Panel title="Links"><Nothing>This run measured no links between nodes: its plan has no fabric stage.</Nothing></Panel>}
        {names.includes(kPair) && <Pairs run={run} />}
      </>}</Shown></>}
  </div>;
}
