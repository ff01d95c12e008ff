// The links of a run's fabric: who reaches whom how fast, by rail, and what is suspected.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {getAll, type Run, type RunDetail, type Sample, type VerdictRow} from '../api';
import {natural, number, plural, quantity} from '../format';
import {type Known, useGet, useList} from '../live';
import {go, link} from '../route';
import {Cell, Choice, Nothing, Panel, Rows, Shown} from '../ui/base';
import {Heat} from '../ui/drawings';
import {Shape} from '../ui/state';

interface LinkRow { a: string; b: string; rail: string; stage: string; measure: string; unit: string; value: number; share: number }

/// "link:a01-n07/mlx5_0/1<->leaf3/swp7", or "a01-n07/gpu3", which is no link.
const endsOf = (sample: Sample): [string, string] | undefined => {
  const ends = (sample.subject ?? '').startsWith('link:') ? sample.subject!.slice(5).split('<->') : [];
  return ends.length === 2 ? [ends[0]!, ends[1]!] : undefined;
};
/// Stages that measure between nodes.
const kStages = /fabric|pair|link|rail|nccl|ib-|ib_|tcp/;

const nodeOf = (end: string) => end.split('/')[0]!;
const portOf = (end: string) => end.slice(nodeOf(end).length + 1);

/// What these stages measured, one after the other.
function useLinks(run: number | undefined, stages: string[]): Known<Sample[]> {
  const [known, set] = useState<Known<Sample[]>>({loading: true});
  const key = `${run} ${stages.join(' ')}`;
  useEffect(() => {
    if (run === undefined) return;
    let stopped = false;
    (async () => {
      const all: Sample[] = [];
      for (const stage of stages) all.push(...await getAll<Sample>(`/runs/${run}/measurements?stage=${encodeURIComponent(stage)}&limit=1000`));
      if (!stopped) set({data: all, loading: false});
    })().catch((problem) => { if (!stopped) set({problem, loading: false}); });
    return () => { stopped = true; };
  }, [key]);
  return known;
}

export function Fabric({id}: {id?: number}) {
  const runs = useList<Run>('/runs?limit=200');
  const run = id ?? runs.data?.[0]?.run;
  const detail = useGet<RunDetail>(run !== undefined ? `/runs/${run}` : undefined);
  const stages = (detail.data?.steps ?? []).filter((step) => kStages.test(step));
  const samples = useLinks(run, stages);
  const verdicts = useList<VerdictRow>(run !== undefined ? `/runs/${run}/verdicts` : undefined);
  const [measure, setMeasure] = useState('');
  const [rail, setRail] = useState('');
  const [order, setOrder] = useState<'worst' | 'name'>('worst');
  const links = useMemo(() => {
    const all = (samples.data ?? []).flatMap((sample): LinkRow[] => {
      const ends = endsOf(sample);
      return ends && sample.value !== null ? [{a: ends[0], b: ends[1], rail: portOf(ends[0]), stage: sample.stage, measure: sample.measure, unit: sample.unit ?? '', value: sample.value, share: 1}] : [];
    });
    const most = new Map<string, number>();
    for (const each of all) most.set(`${each.stage} ${each.measure}`, Math.max(most.get(`${each.stage} ${each.measure}`) ?? 0, each.value));
    for (const each of all) each.share = most.get(`${each.stage} ${each.measure}`) ? each.value / most.get(`${each.stage} ${each.measure}`)! : 1;
    return all;
  }, [samples.data]);
  const measures = [...new Set(links.map((each) => `${each.stage} ${each.measure}`))].sort(natural);
  const chosen = measures.includes(measure) ? measure : measures.find((each) => each.includes('bandwidth')) ?? measures[0];
  const its = links.filter((each) => `${each.stage} ${each.measure}` === chosen);
  const rails = [...new Set(its.map((each) => each.rail))].sort(natural);
  const shown = its.filter((each) => !rail || each.rail === rail).sort((a, b) => (order === 'worst' ? a.share - b.share : 0) || natural(a.a, b.a) || natural(a.b, b.b));
  const nodes = [...new Set(shown.flatMap((each) => [nodeOf(each.a), nodeOf(each.b)]))].sort(natural);
  const pairs = new Map<string, number>();
  for (const each of shown) for (const key of [`${nodeOf(each.a)} ${nodeOf(each.b)}`, `${nodeOf(each.b)} ${nodeOf(each.a)}`]) pairs.set(key, Math.min(pairs.get(key) ?? Infinity, each.value));
  const errors = (chosen ?? '').match(/error|symbol|downed|ber\b/) !== null;
  const suspects = (verdicts.data ?? []).flatMap((row) => row.causes.filter((cause) => ['link', 'port', 'switch-port'].includes(cause.subject?.kind ?? '') || /^(ib|fabric|link|cable|rail|mlx|hca)\b/.test(cause.criterion) || /^mlx5_|^hca/.test(cause.part ?? ''))
    .map((cause) => ({node: row.node, cause})));
  return <div class="page"><div class="titlebar"><h1>Fabric</h1><span class="grow" />
    <label>Run <select value={String(run ?? '')} onChange={(event) => go(link('fabric', event.currentTarget.value))}>{(runs.data ?? []).map((each) => <option key={each.run} value={String(each.run)}>{each.run} {each.playbook}</option>)}</select></label></div>
    {run === undefined ? <Nothing>No run yet.</Nothing> : <>
      <Panel title="Suspects">{suspects.length ? <ul class="list">{suspects.map(({node, cause}, i) => <li key={i}><Shape state={cause.decision === 'fail' ? 'fail' : 'inconclusive'} /><div><a href={link('runs', run, 'nodes', node)}>{node}</a> <b>{cause.part}</b> {cause.criterion}: {cause.measured}, expected {cause.expected}<div class="dim">{cause.remedy}</div></div></li>)}</ul> : <Nothing>No link, port or HCA is suspected in this run.</Nothing>}</Panel>
      <Shown of={samples}>{() => !links.length ? <Panel title="Links"><Nothing>This run measured no links between nodes: its plan has no fabric stage.</Nothing></Panel> : <>
        <div class="tools">
          <label>Measure <select value={chosen} onChange={(event) => setMeasure(event.currentTarget.value)}>{measures.map((each) => <option key={each}>{each}</option>)}</select></label>
          <label>Rail <select value={rail} onChange={(event) => setRail(event.currentTarget.value)}><option value="">all</option>{rails.map((each) => <option key={each}>{each}</option>)}</select></label>
          <Choice label="order" value={order} onChange={setOrder} of={[['worst', errors ? 'Smallest first' : 'Slowest first'], ['name', 'By name']] as const} /><span class="dim">{plural(shown.length, 'link')}</span>
        </div>
        {nodes.length > 1 && nodes.length <= 64 && <Panel title="Node to node"><Heat names={nodes} unit={shown[0]?.unit ?? ''} label={`${chosen} between nodes`} at={(row, column) => pairs.get(`${row} ${column}`)} /></Panel>}
        <Panel flush title="Links"><Rows label="links" items={shown} height={30} most={520} keyOf={(each, i) => `${i} ${each.a} ${each.b}`}
          head={<><Cell head class="c-kind">state</Cell><Cell head class="c-words">from</Cell><Cell head class="c-words">to</Cell><Cell head class="c-step">value</Cell><Cell head class="c-tally">of the best</Cell></>}
          row={(each) => <><Cell class="c-kind"><Shape state={each.share < 0.9 && !errors ? 'fail' : each.share < 0.95 && !errors ? 'inconclusive' : 'pass'} /> {each.share < 0.9 && !errors ? 'slow' : ''}</Cell><Cell class="c-words">{each.a}</Cell><Cell class="c-words">{each.b}</Cell><Cell class="c-step">{quantity(each.value, each.unit)}</Cell>
            <Cell class="c-tally"><span class="track"><span class={`fill b-${each.share < 0.9 && !errors ? 'fail' : 'run'}`} style={{width: `${Math.min(100, each.share * 100)}%`}} /></span> <small>{number(each.share * 100, 3)} %</small></Cell></>} /></Panel>
      </>}</Shown></>}
  </div>;
}
