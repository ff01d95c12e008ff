// What pairs of nodes reached over TCP: as a matrix where they are few, and as a list with the slowest first.
import {useMemo, useState} from 'preact/hooks';
import type {Sample} from '../api';
import {natural, number, plural, quantity} from '../format';
import {useList} from '../live';
import {Cell, Choice, Panel, Rows, Shown} from '../ui/base';
import {Heat} from '../ui/drawings';
import {Shape} from '../ui/state';

interface Pair { a: string; b: string; value: number; unit: string; share: number }

const kMostInMatrix = 64;
const kSlow = 0.9, kNearlySlow = 0.95;  // of the best
const nodeOf = (end: string) => end.split('/')[0]!;

/// Of "link:a01-n07/10.0.0.7<->a01-n08/10.0.0.8".
function pairsOf(samples: Sample[]): Pair[] {
  const all = samples.flatMap((sample): Pair[] => {
    const ends = (sample.subject ?? '').startsWith('link:') ? sample.subject!.slice(5).split('<->') : [];
    return ends.length === 2 && sample.value !== null ? [{a: ends[0]!, b: ends[1]!, value: sample.value, unit: sample.unit ?? '', share: 1}] : [];
  });
  const most = Math.max(0, ...all.map((each) => each.value));
  for (const each of all) each.share = most > 0 ? each.value / most : 1;
  return all;
}

export function Pairs({run}: {run: number}) {
  const samples = useList<Sample>(`/runs/${run}/measurements?measure=tcp.throughput&limit=10000`, {run, pause: 5000});
  const [order, setOrder] = useState<'worst' | 'name'>('worst');
  const pairs = useMemo(() => pairsOf(samples.data ?? []), [samples.data]);
  const shown = useMemo(() => [...pairs].sort((a, b) => (order === 'worst' ? a.share - b.share : 0) || natural(a.a, b.a) || natural(a.b, b.b)), [pairs, order]);
  const nodes = [...new Set(pairs.flatMap((each) => [nodeOf(each.a), nodeOf(each.b)]))].sort(natural);
  const least = new Map<string, number>();
  for (const each of pairs) for (const key of [`${nodeOf(each.a)} ${nodeOf(each.b)}`, `${nodeOf(each.b)} ${nodeOf(each.a)}`]) least.set(key, Math.min(least.get(key) ?? Infinity, each.value));
  return <Shown of={samples}>{() => <>
    {nodes.length > 1 && nodes.length <= kMostInMatrix && <Panel title="Node to node over TCP"><Heat names={nodes} unit={pairs[0]?.unit ?? ''} label="throughput between nodes" at={(row, column) => least.get(`${row} ${column}`)} /></Panel>}
    <Panel flush title="Pairs over TCP" aside={<><span class="dim">{plural(pairs.length, 'pair')}</span><Choice label="order" value={order} onChange={setOrder} of={[['worst', 'Slowest first'], ['name', 'By name']] as const} /></>}>
      <Rows label="pairs" items={shown} height={30} most={520} keyOf={(each) => `${each.a} ${each.b}`}
        head={<><Cell head class="c-kind">state</Cell><Cell head class="c-words">from</Cell><Cell head class="c-words">to</Cell><Cell head class="c-step">throughput</Cell><Cell head class="c-tally">of the best</Cell></>}
        row={(each) => <><Cell class="c-kind"><Shape state={each.share < kSlow ? 'fail' : each.share < kNearlySlow ? 'inconclusive' : 'pass'} /> {each.share < kSlow ? 'slow' : ''}</Cell><Cell class="c-words">{each.a}</Cell><Cell class="c-words">{each.b}</Cell><Cell class="c-step">{quantity(each.value, each.unit)}</Cell>
          <Cell class="c-tally"><span class="track"><span class={`fill b-${each.share < kSlow ? 'fail' : 'run'}`} style={{width: `${Math.min(100, each.share * 100)}%`}} /></span> <small>{number(each.share * 100, 3)} %</small></Cell></>} />
    </Panel></>}</Shown>;
}
