// Each group of nodes with the leaves that it is plugged into: a row for each node, a column for each rail.
import {natural, number, plural, quantity} from '../format';
import {link} from '../route';
import type {Cable} from '../api';

export interface RailCell { value: number; unit: string; share: number; bad: boolean; why?: string }
interface RailColumn { key: string; rail: string; leaf: string }
interface Group { name: string; columns: RailColumn[]; nodes: Map<string, Map<string, Cable>> }

/// By the cable plan; where there is none, one group with a column for each HCA.
function groupsOf(cables: Cable[], measured: Iterable<string>): Group[] {
  const all: Cable[] = cables.some((each) => each.node) ? cables.filter((each) => each.node)
    : [...measured].map((key) => ({node: key.slice(0, key.indexOf('/')), hca: key.slice(key.indexOf('/') + 1), switch: '', port: ''}));
  const groups = new Map<string, Group>();
  for (const cable of all) {
    const name = cable.group ? `Group ${cable.group}` : '';
    const group: Group = groups.get(name) ?? {name, columns: [], nodes: new Map()};
    groups.set(name, group);
    const rail = cable.rail ? `rail ${cable.rail}` : cable.hca!;
    const key = `${rail} ${cable.switch}`;
    if (!group.columns.some((each) => each.key === key)) group.columns.push({key, rail, leaf: cable.switch});
    const places = group.nodes.get(cable.node!) ?? new Map<string, Cable>();
    group.nodes.set(cable.node!, places.set(key, cable));
  }
  for (const group of groups.values()) group.columns.sort((a, b) => natural(a.key, b.key));
  return [...groups.values()].sort((a, b) => natural(a.name, b.name));
}

const mark = (cell: RailCell) => cell.bad ? '▾ ' : '';

function Uplinks({leaf, cables, ports}: {leaf: string; cables: Cable[]; ports: Set<string>}) {
  const its = cables.filter((each) => each.below === leaf);
  const bad = its.filter((each) => ports.has(`port:${leaf}/${each.below_port}`) || ports.has(`port:${each.switch}/all`));
  const words = its.map((each) => `port ${each.below_port} to ${each.switch} port ${each.port}${bad.includes(each) ? ', suspected' : ''}`).join('; ');
  return <td class={bad.length ? 'low' : 'up'} title={words}>{bad.length ? `▾ port ${bad.map((each) => each.below_port).join(', ')}` : its.length || ''}</td>;
}

export function Leaves({run, cables, cells, collective, ports, label}: {
  run: number; cables: Cable[]; cells: Map<string, RailCell>; collective: Map<string, RailCell>; ports: Set<string>; label: string;
}) {
  const groups = groupsOf(cables, cells.keys());
  const drawn = groups.flatMap((group) => [...group.nodes].flatMap(([node, places]) => [...places.values()].map((cable) => cells.get(`${node}/${cable.hca}`)))).filter((each) => each !== undefined);
  const units = new Set(drawn.map((each) => each.unit));
  const unit = units.size === 1 ? [...units].find((each) => !['count', 'errors'].includes(each)) : undefined;
  const hasUplinks = cables.some((each) => each.below);
  const bad = drawn.filter((each) => each.bad).length;
  return <><p class="quiet" role="note">{label}{unit && ` in ${unit}`}, {plural(drawn.length, 'port')}{bad ? `, ${bad} of them framed: far from the best, or named by a verdict` : ''}{collective.size > 0 && '; NCCL is the bus bandwidth of an all-reduce with other nodes'}</p>
    <div class="leaves">{groups.map((group) => <section key={group.name} class="scroll" tabIndex={0} role="region" aria-label={group.name || 'nodes'}>
      <table class="heat" aria-label={`${label}, ${group.name}`}>
        <thead><tr>{group.name ? <th scope="col" class="node">{group.name}</th> : <td class="none" />}{group.columns.map((each) => <th scope="col" key={each.key}>{each.rail}{each.leaf && <small class={ports.has(`port:${each.leaf}/all`) ? 't-fail' : ''}>{ports.has(`port:${each.leaf}/all`) && '▾ '}{each.leaf}</small>}</th>)}
          {collective.size > 0 && <th scope="col">NCCL<small>{[...collective.values()][0]!.unit}</small></th>}</tr></thead>
        <tbody>{[...group.nodes].sort(([a], [b]) => natural(a, b)).map(([node, places]) => <tr key={node}><th scope="row" class="node"><a href={link('runs', run, 'nodes', node)}>{node}</a></th>
          {group.columns.map((column) => {
            const cable = places.get(column.key), cell = cable && cells.get(`${node}/${cable.hca}`);
            if (!cable || !cell) return <td key={column.key} class="none">–</td>;
            return <td key={column.key} class={cell.bad ? 'low' : ''} style={{'--share': String(Math.round(cell.share * 100) / 100)}}
              title={`${node} ${cable.hca}${cable.switch ? ` to ${cable.switch} port ${cable.port}` : ''}: ${quantity(cell.value, cell.unit)}${cell.why ? `; ${cell.why}` : ''}`}>{mark(cell)}{number(cell.value, 3)}</td>;
          })}
          {collective.size > 0 && <NcclCell cell={collective.get(node)} node={node} />}</tr>)}</tbody>
        {hasUplinks && group.columns.some((each) => each.leaf) && <tfoot><tr><th scope="row" class="node">uplinks</th>
          {group.columns.map((each) => <Uplinks key={each.key} leaf={each.leaf} cables={cables} ports={ports} />)}{collective.size > 0 && <td class="none" />}</tr></tfoot>}
      </table></section>)}</div></>;
}

function NcclCell({cell, node}: {cell: RailCell | undefined; node: string}) {
  if (!cell) return <td class="none">–</td>;
  return <td class={cell.bad ? 'low' : 'up'} title={`${node}: all-reduce ${quantity(cell.value, cell.unit)}`}>{mark(cell)}{number(cell.value, 3)}</td>;
}
