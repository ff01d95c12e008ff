// Small drawings: a value among those of the fleet, a matrix as a heat map, a bar under a limit.
import {number, quantity, watts} from '../format';

/// Every value of the fleet as a tick, the own ones on top, the criterion's limits as lines.
export function Strip({values, own, low, high, unit, width = 180, height = 22, label}: {
  values: number[]; own: number[]; low?: number; high?: number; unit?: string; width?: number; height?: number; label: string;
}) {
  const all = [...values, ...own, ...(low !== undefined ? [low] : []), ...(high !== undefined ? [high] : [])].filter(isFinite);
  if (!all.length) return null;
  let least = Math.min(...all), most = Math.max(...all);
  if (least === most) { least -= Math.abs(least) * 0.05 || 1; most += Math.abs(most) * 0.05 || 1; }
  const x = (value: number) => 4 + (value - least) / (most - least) * (width - 8);
  // As many ticks as there are pixels, each as dark as it has values.
  const bins = new Map<number, number>();
  for (const value of values) bins.set(Math.round(x(value)), (bins.get(Math.round(x(value))) ?? 0) + 1);
  const top = Math.max(1, ...bins.values());
  const sorted = values.slice().sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  const words = `${label}: ${own.map((value) => quantity(value, unit)).join(', ') || 'not measured'}; ` +
    (median === undefined ? 'no others' : `median of ${sorted.length} values ${quantity(median, unit)}, from ${number(sorted[0])} to ${number(sorted[sorted.length - 1])}`);
  return <svg class="strip" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words}>
    <title>{words}</title>
    <line class="axis" x1={2} x2={width - 2} y1={height - 4} y2={height - 4} />
    {[...bins].map(([at, count]) => <rect key={at} class="other" x={at - 0.5} width={1.5} y={height - 5 - (height - 9) * (0.35 + 0.65 * count / top)}
      height={(height - 9) * (0.35 + 0.65 * count / top)} />)}
    {low !== undefined && <line class="limit" x1={x(low)} x2={x(low)} y1={1} y2={height - 1} />}
    {high !== undefined && high !== low && <line class="limit" x1={x(high)} x2={x(high)} y1={1} y2={height - 1} />}
    {own.map((value, i) => {
      const bad = (low !== undefined && value < low) || (high !== undefined && value > high);
      return bad
        ? <path key={i} class="own bad" d={`M${x(value) - 4} ${height - 8}l4 -7 4 7z`} />
        : <circle key={i} class="own" cx={x(value)} cy={height - 11} r={3} />;
    })}
  </svg>;
}

/// GPU against GPU. Darker is more; what is far below the best is framed.
export function Heat({names, at, unit, label, suspect = 0.9}: {
  names: string[]; at: (row: string, column: string) => number | undefined; unit: string; label: string; suspect?: number;
}) {
  const values = names.flatMap((row) => names.map((column) => at(row, column))).filter((value): value is number => value !== undefined);
  const most = Math.max(...values), least = Math.min(...values);
  const from = Math.min(least, most * 0.5);
  return <div class="scroll" tabIndex={0} role="region" aria-label={label}><table class="heat" aria-label={label}>
    <thead><tr><td class="none" />{names.map((name) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
    <tbody>{names.map((row) => <tr key={row}><th scope="row">{row}</th>{names.map((column) => {
      const value = at(row, column);
      if (value === undefined) return <td key={column} class="none">{row === column ? '' : '–'}</td>;
      const share = most > from ? (value - from) / (most - from) : 1;
      const low = value < most * suspect;
      return <td key={column} class={low ? 'low' : ''} style={{'--share': String(Math.round(share * 100) / 100)}}
        title={`${row} to ${column}: ${quantity(value, unit)}`}>{low ? '▾ ' : ''}{number(value, 3)}</td>;
    })}</tr>)}</tbody>
  </table></div>;
}

/// What is drawn of what may be drawn.
export function PowerBar({name, drawn, limit, kind}: {name: string; drawn: number; limit?: number; kind?: string}) {
  const share = limit ? drawn / limit : 0;
  const tone = share > 1 ? 'fail' : share > 0.9 ? 'unsure' : 'run';
  return <div class="powerbar" title={`${kind ?? ''} ${name}`}>
    <span class="name">{name}</span>
    <span class="track" role="img" aria-label={limit ? `${Math.round(share * 100)} % of ${watts(limit)}` : 'no limit'}>
      <span class={`fill b-${tone}`} style={{width: `${Math.min(100, share * 100)}%`}} />
    </span>
    <span class="figure">{watts(drawn)}{limit ? <span class="dim"> / {watts(limit)}</span> : null}</span>
  </div>;
}
