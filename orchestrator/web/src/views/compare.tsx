// The audit of two runs side by side: which nodes changed their verdict, and which parts were moved, swapped or updated.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {get, type NodeRecord, nodePath, type Part, type Run, type VerdictRow} from '../api';
import {natural, plural} from '../format';
import {useList} from '../live';
import {go, link} from '../route';
import {Button, Nothing, Panel, Shown} from '../ui/base';
import {Shape, State} from '../ui/state';

interface Change { node: string; what: 'verdict' | 'cause' | 'part' | 'serial' | 'firmware' | 'model'; part: string; before: string; after: string }

/// The parts of a node: of the BMC where it names them, else of the first stage that does.
function partsOf(record: NodeRecord): Map<string, Part> {
  const all = new Map<string, Part>();
  const add = (part: Part) => {
    const key = `${part.kind} ${part.name}`;
    const known = all.get(key);
    if (!known) all.set(key, {...part});
    else for (const [field, value] of Object.entries(part)) if (known[field] === undefined || known[field] === '') known[field] = value;
  };
  for (const stage of Object.keys(record.stages).sort(natural)) for (const part of record.stages[stage]!.parts ?? []) add(part);
  for (const part of record.bmc_parts ?? []) add(part);
  return all;
}

export function changesOf(before: NodeRecord, after: NodeRecord): Change[] {
  const changes: Change[] = [];
  const node = after.node, first = partsOf(before), second = partsOf(after);
  if (before.verdict !== after.verdict) changes.push({node, what: 'verdict', part: '', before: before.verdict, after: after.verdict});
  const causes = (record: NodeRecord) => record.causes.filter((cause) => !cause.consequence_of).map((cause) => `${cause.part ? `${cause.part}: ` : ''}${cause.criterion}`);
  for (const cause of causes(before)) if (!causes(after).includes(cause)) changes.push({node, what: 'cause', part: '', before: cause, after: 'gone'});
  for (const cause of causes(after)) if (!causes(before).includes(cause)) changes.push({node, what: 'cause', part: '', before: 'none', after: cause});
  const serials = new Map([...first.values()].filter((part) => part.serial).map((part) => [part.serial!, part.name]));
  for (const [key, part] of second) {
    const old = first.get(key);
    if (!old) { changes.push({node, what: 'part', part: part.name, before: 'absent', after: [part.model, part.serial].filter(Boolean).join(' ')}); continue; }
    if (part.serial && old.serial && part.serial !== old.serial)
      changes.push({node, what: 'serial', part: part.name, before: old.serial, after: part.serial + (serials.has(part.serial) ? ` (was ${serials.get(part.serial)})` : '')});
    if (part.firmware && old.firmware && part.firmware !== old.firmware) changes.push({node, what: 'firmware', part: part.name, before: old.firmware, after: part.firmware});
    if (part.model && old.model && part.model !== old.model) changes.push({node, what: 'model', part: part.name, before: old.model, after: part.model});
  }
  for (const [key, part] of first) if (!second.has(key)) changes.push({node, what: 'part', part: part.name, before: [part.model, part.serial].filter(Boolean).join(' '), after: 'absent'});
  return changes;
}

const kAtOnce = 6;

export function Compare({first, second, only}: {first: number; second: number; only?: string}) {
  const runs = useList<Run>('/runs?limit=1000');
  const before = useList<VerdictRow>(`/runs/${first}/verdicts`), after = useList<VerdictRow>(`/runs/${second}/verdicts`);
  const [changes, setChanges] = useState<Change[]>([]);
  const [read, setRead] = useState(0);
  const [asked, setAsked] = useState(false);
  const nodes = useMemo(() => {
    const known = new Set((before.data ?? []).map((row) => row.node));
    return (after.data ?? []).map((row) => row.node).filter((node) => known.has(node) && (!only || node === only)).sort(natural);
  }, [before.data, after.data, only]);
  const verdicts = useMemo(() => {
    const old = new Map((before.data ?? []).map((row) => [row.node, row.verdict]));
    return (after.data ?? []).filter((row) => old.has(row.node) && old.get(row.node) !== row.verdict).map((row) => ({node: row.node, before: old.get(row.node)!, after: row.verdict}));
  }, [before.data, after.data]);
  useEffect(() => { setChanges([]); setRead(0); setAsked(nodes.length > 0 && nodes.length <= 80); }, [nodes]);
  useEffect(() => {
    if (!asked) return;
    let stopped = false, next = 0;
    const worker = async () => {
      while (!stopped && next < nodes.length) {
        const node = nodes[next++]!;
        try {
          const [a, b] = await Promise.all([get<NodeRecord>(nodePath(first, node)), get<NodeRecord>(nodePath(second, node))]);
          const found = changesOf(a, b);
          if (!stopped) setChanges((old) => [...old, ...found]);
        } catch { /* a node without a record in one of them */ }
        if (!stopped) setRead((count) => count + 1);
      }
    };
    for (let i = 0; i < kAtOnce; ++i) void worker();
    return () => { stopped = true; };
  }, [asked, nodes]);
  const only_first = (before.data ?? []).filter((row) => !(after.data ?? []).some((each) => each.node === row.node)).length;
  const only_second = (after.data ?? []).filter((row) => !(before.data ?? []).some((each) => each.node === row.node)).length;
  const byNode = new Map<string, Change[]>();
  for (const change of changes) byNode.set(change.node, [...(byNode.get(change.node) ?? []), change]);
  const choose = (label: string, value: number, change: (run: number) => void) => <label>{label} <select value={String(value)} onChange={(event) => change(Number(event.currentTarget.value))}>
    {(runs.data ?? []).map((run) => <option key={run.run} value={String(run.run)}>{run.run} {run.playbook} {run.began.slice(0, 10)}</option>)}</select></label>;
  return <div class="page"><div class="titlebar"><h1>Compare run {first} with run {second}</h1><span class="grow" />
    <div class="buttons">{choose('Before', first, (run) => go(link('compare', run, second)))}{choose('After', second, (run) => go(link('compare', first, run)))}</div></div>
    <Shown of={before}>{() => <Shown of={after}>{() => <>
      <p class="sub"><span>{plural(nodes.length, 'node')} in both</span>{only_first > 0 && <span>{only_first} only in run {first}</span>}{only_second > 0 && <span>{only_second} only in run {second}</span>}{only && <span>shown: {only} <a href={link('compare', first, second)}>all</a></span>}</p>
      <Panel title="Verdicts that changed">{verdicts.length ? <ul class="list">{verdicts.map((each) => <li key={each.node}><Shape state={each.after} /><div><a href={link('runs', second, 'nodes', each.node)}>{each.node}</a> <State state={each.before} /> <span aria-label="then">→</span> <State state={each.after} /></div></li>)}</ul> : <Nothing>No node has another verdict.</Nothing>}</Panel>
      <Panel title="Parts, serial numbers, firmware" aside={asked && read < nodes.length ? <span class="dim" role="status">{read} of {nodes.length} nodes read</span> : undefined}>
        {!asked ? nodes.length ? <Button onClick={() => setAsked(true)}>Compare the parts of {nodes.length} nodes</Button> : <Nothing>No node is in both runs.</Nothing> : byNode.size
          ? <div class="scroll" tabIndex={0} role="region" aria-label="differences"><table><thead><tr><th scope="col">node</th><th scope="col">what</th><th scope="col">part</th><th scope="col">run {first}</th><th scope="col">run {second}</th></tr></thead>
            <tbody>{[...byNode].sort(([a], [b]) => natural(a, b)).flatMap(([node, its]) => its.map((change, i) => <tr key={`${node} ${i}`}><td>{i === 0 ? <a href={link('runs', second, 'nodes', node)}>{node}</a> : ''}</td><td>{change.what}</td><td>{change.part}</td><td>{change.before}</td><td><b>{change.after}</b></td></tr>))}</tbody></table></div>
          : <Nothing>{read < nodes.length ? 'Reading…' : 'No part, serial number or firmware differs.'}</Nothing>}
      </Panel></>}</Shown>}</Shown>
  </div>;
}
