// What an operator has to do, as a list to walk along the racks with: one hand, cold aisle, large targets.
import {useEffect, useState} from 'preact/hooks';
import type {OperatorAction, Whoami} from '../api';
import {folded, natural, plural} from '../format';
import {useGet} from '../live';
import {link} from '../route';
import {Button, Choice, Nothing, Shown} from '../ui/base';
import {CommandDialog, Locate, mayChange, type Wish} from '../ui/command';
import {Shape} from '../ui/state';

const kDone = 'cupel-walked';
const keyOf = (each: OperatorAction) => `${each.run} ${each.node} ${each.part ?? ''} ${each.step ?? ''} ${each.action}`;

/// What was ticked off on this device; no more than a memory aid.
function useTicks(): [Set<string>, (key: string) => void] {
  const [ticks, set] = useState(() => {
    try { return new Set<string>(JSON.parse(sessionStorage.getItem(kDone) ?? '[]')); } catch { return new Set<string>(); }
  });
  useEffect(() => { sessionStorage.setItem(kDone, JSON.stringify([...ticks])); }, [ticks]);
  return [ticks, (key) => set((old) => { const changed = new Set(old); if (!changed.delete(key)) changed.add(key); return changed; })];
}

export function Actions({who}: {who: Whoami}) {
  const known = useGet<{actions: OperatorAction[]}>('/actions', {run: 'any', pause: 4000, every: 20_000});
  const [where, setWhere] = useState<'all' | 'rack' | 'desk'>('all');
  const [ticks, tick] = useTicks();
  const [wish, setWish] = useState<{run: number; wish: Wish}>();
  return <div class="page walking"><div class="titlebar"><h1>Operator actions</h1><span class="grow" />
    <Choice label="where" value={where} onChange={setWhere} of={[['all', 'All'], ['rack', 'At the racks'], ['desk', 'At a desk']] as const} /></div>
    <Shown of={known}>{({actions}) => {
      const its = actions.filter((each) => where === 'all' || isAtRack(each) === (where === 'rack'));
      if (!its.length) return <Nothing>Nothing needs an operator.</Nothing>;
      const racks = new Map<string, OperatorAction[]>();
      for (const each of its) { const rack = isAtRack(each) ? each.rack || 'Without a rack' : 'At a desk'; racks.set(rack, [...(racks.get(rack) ?? []), each]); }
      return <>{[...racks].sort(([a], [b]) => a === 'At a desk' ? -1 : b === 'At a desk' ? 1 : natural(a, b)).map(([rack, all]) => <section key={rack} class="stop">
        <h2>{rack === 'At a desk' || rack === 'Without a rack' ? rack : `Rack ${rack}`} <span class="dim">{plural(all.length, 'action')}</span></h2>
        <ol>{all.map((each) => {
          const key = keyOf(each), done = ticks.has(key);
          return <li key={key} class={done ? 'done' : ''}>
            <button type="button" class="tick" aria-pressed={done} onClick={() => tick(key)} aria-label={`${done ? 'Not done' : 'Done'}: ${each.node} ${each.part ?? ''}`}><Shape state={done ? 'pass' : 'waiting'} size={34} /></button>
            <div class="what">
              <p class="where">{each.unit ? <b class="unit">U{each.unit}</b> : null}<a href={link('runs', each.run, 'nodes', each.node)}>{each.node}</a>{each.part && <b>{each.part}</b>}</p>
              <p class="do">{each.action}</p>
              {each.why && <p class="dim">{each.why}</p>}
              {explained(each).length > 0 && <p class="dim">Also explains: {explained(each).join(', ')}</p>}
              {(each.goes_on ?? (each as {goes_on_by_itself?: boolean}).goes_on_by_itself) && <p class="dim">The run goes on by itself when this is done.</p>}
            </div>
            <div class="doing"><Locate node={each.node} who={who} large />
              {mayChange(who) && <Button large onClick={() => setWish({run: each.run, wish: {command: 'retry', node: each.node, title: `Retry ${each.node}`, explain: 'You did what was to be done: the failed step is done again.'}})}>Retry</Button>}</div>
          </li>;
        })}</ol></section>)}</>;
    }}</Shown>
    {wish && <CommandDialog run={wish.run} wish={wish.wish} who={who} onClose={() => { setWish(undefined); known.again(); }} />}
  </div>;
}

/// The command line's JSON says "where", the API "at_the_rack".
const isAtRack = (each: OperatorAction & {where?: string}) => each.at_the_rack ?? (each.where ? each.where === 'rack' : Boolean(each.rack));
/// "p2p.pairs of gpu[0-4,6-7]": what several parts say alike is said once. Of causes, or of texts such as "gpu0: p2p.pairs".
export function explained(each: Pick<OperatorAction, 'consequences'> & {explains?: string[]}): string[] {
  const of = each.explains?.map((text) => /^(?:(?!audit: )(?<part>.+?): )?(?<criterion>.+)$/s.exec(text)!.groups as {part?: string; criterion: string}) ?? each.consequences ?? [];
  const parts = new Map<string, string[]>();
  for (const {criterion, part} of of) parts.set(criterion, [...(parts.get(criterion) ?? []), ...(part ? [part] : [])]);
  return [...parts].map(([criterion, its]) => its.length ? `${criterion} of ${folded(its)}` : criterion);
}
