// The time line of a run: a row for each node, a bar for each step, and behind "now" what is expected. Only rows in view
// are in the document.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Plan, Row, StepSpan} from '../api';
import {at, clock, kTimeSteps, span} from '../format';
import {link} from '../route';
import {Shape} from './state';
import {Button} from './base';
import {kMostOnPaper, kPaper, usePrinting} from './print';

const kRow = 26;
const kNames = 132, kHalf = 28;  // pixels: the column of names, half a time of day
const tickWidth = (every: number) => every < 60 ? 84 : 66;  // pixels: a time of day, with what is around it

interface Bar { step: string; from: number; to: number; tone: string; words: string; open?: boolean }

const toneOf = (outcome: string) => outcome === '' ? 'run' : outcome === 'done' ? 'pass' : outcome === 'skipped' ? 'wait' : outcome === 'retry' ? 'unsure' : 'fail';

/// Expected seconds by node and step.
function expectations(plan?: Plan): Map<string, {step: string; seconds: number}[]> {
  const all = new Map<string, {step: string; seconds: number}[]>();
  for (const group of plan?.groups ?? []) {
    const steps = group.steps.filter((step) => !step.left_out).map((step) => ({step: step.step, seconds: step.expected_s ?? 0}));
    for (const node of group.nodes) all.set(node, steps);
  }
  return all;
}

export function Gantt({run, rows, spans, plan, began, ends, now, over}: {
  run: number; rows: Row[]; spans: StepSpan[]; plan?: Plan; began: number; ends?: number; now: number; over: boolean;
}) {
  const [magnified, setZoom] = useState(1);
  const printing = usePrinting();
  const zoom = printing ? 1 : magnified;  // paper does not scroll
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({top: 0, height: 520, width: 800});
  useLayoutEffect(() => {
    const element = box.current!;
    const look = () => setView((old) => {
      const {scrollTop: top, clientHeight: height, clientWidth: width} = element;
      return old.top === top && old.height === height && old.width === width ? old : {top, height, width};
    });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, {passive: true});
    return () => { observer.disconnect(); element.removeEventListener('scroll', look); };
  }, []);
  const expected = useMemo(() => expectations(plan), [plan]);
  const byNode = useMemo(() => {
    const all = new Map<string, StepSpan[]>();
    for (const each of spans) all.set(each.node, [...(all.get(each.node) ?? []), each]);
    return all;
  }, [spans]);
  const latest = spans.reduce((most, each) => Math.max(most, at(each.ended ?? each.began)), began);
  const end = over ? Math.max(latest, began + 1000) : Math.max(ends ?? 0, now + (now - began) * 0.05, began + 1000);
  const share = (time: number) => (Math.min(Math.max(time, began), end) - began) / (end - began) * 100;

  const barsOf = (row: Row): Bar[] => {
    const bars: Bar[] = [];
    const seen = new Set<string>();
    for (const each of byNode.get(row.node) ?? []) {
      const from = at(each.began), to = each.ended ? at(each.ended) : over ? latest : now;
      seen.add(each.step);
      if (each.outcome === 'skipped') continue;
      bars.push({step: each.step, from, to, tone: toneOf(each.outcome), open: !each.ended,
        words: `${each.step}: ${each.outcome || 'running'}, ${clock(from)} to ${each.ended ? clock(to) : 'now'} (${span((to - from) / 1000)})` +
          `${(each.attempts ?? 1) > 1 ? `, try ${each.attempts}` : ''}${each.detail ? `: ${each.detail}` : ''}`});
    }
    if (!over && !['pass', 'fail', 'inconclusive', 'ended'].includes(row.state)) {
      let from = now;
      for (const {step, seconds} of expected.get(row.node) ?? []) {
        const runs = row.step === step && row.state === 'running';
        if (seen.has(step) && !runs) continue;
        const left = runs && row.step_began ? Math.max(0, seconds - (now - at(row.step_began)) / 1000) : seconds;
        if (left > 0) bars.push({step, from, to: from + left * 1000, tone: 'ahead', words: `${step}: expected, ${span(left)}${runs ? ' left' : ''}`});
        from += left * 1000;
      }
    }
    return bars;
  };
  const seconds = (end - began) / 1000 / zoom;
  const most = (step: number) => Math.min(9, Math.max(2, Math.floor(((printing ? kPaper : view.width) - kNames) / tickWidth(step))));
  const every = kTimeSteps.find((step) => seconds / step <= most(step)) ?? 86400 * Math.ceil(seconds / 86400 / most(86400));
  const ticks: number[] = [];
  for (let tick = Math.ceil(began / 1000 / every) * every * 1000; tick < end; tick += every * 1000) ticks.push(tick);
  const all = printing ? Math.min(rows.length, kMostOnPaper) : rows.length;
  const first = printing ? 0 : Math.max(0, Math.floor(view.top / kRow) - 6);
  const last = printing ? all : Math.min(all, Math.ceil((view.top + view.height) / kRow) + 6);

  return <div class="gantt">
    <div class="tools">
      <ul class="legend">
        <li><i class="b-run" />running</li><li><i class="b-pass" />done</li><li><i class="b-fail" />failed</li>
        {!over && <li><i class="ahead" />expected</li>}
      </ul>
      <span class="grow" />
      <Button kind="bare" onClick={() => setZoom(Math.max(1, zoom / 2))} disabled={zoom <= 1} label="Show more time">−</Button>
      <Button kind="bare" onClick={() => setZoom(1)} disabled={zoom === 1}>Fit</Button>
      <Button kind="bare" onClick={() => setZoom(Math.min(64, zoom * 2))} disabled={zoom >= 64} label="Show less time">+</Button>
    </div>
    <div class="chart" ref={box} tabIndex={0} role="table" aria-label="time line of the steps of each node" aria-rowcount={rows.length + 1}>
      <div class="wide" style={{width: `max(100%, calc(var(--names) + (100% - var(--names)) * ${zoom}))`}}>
        <div class="axis" role="row" aria-rowindex={1}>
          <span class="who" role="columnheader">node</span>
          <span class="lane" role="columnheader" aria-label="time">
            {ticks.map((tick) => <span key={tick} class="tick" style={{left: `clamp(${kHalf}px, ${share(tick)}%, calc(100% - ${kHalf}px))`}}>{clock(tick, every < 60)}</span>)}
          </span>
        </div>
        <div role="rowgroup" style={{height: `${all * kRow}px`, position: 'relative'}}>
          <div class="grid" aria-hidden="true">
            {ticks.map((tick) => <span key={tick} style={{left: `${share(tick)}%`}} />)}
            {!over && <span class="now" style={{left: `${share(now)}%`}} />}
          </div>
          {rows.slice(first, last).map((row, i) => <div key={row.node} role="row" aria-rowindex={first + i + 2} class="line" style={{top: `${(first + i) * kRow}px`}}>
            <span class="who" role="rowheader"><Shape state={row.overdue ? 'overdue' : row.state} size={12} /><a href={link('runs', run, 'nodes', row.node)}>{row.node}</a></span>
            <span class="lane" role="cell">
              {barsOf(row).map((bar, b) => <i key={`${bar.step} ${bar.tone} ${b}`} class={`bar ${bar.tone === 'ahead' ? 'ahead' : `b-${bar.tone}`}${bar.open ? ' open' : ''}`}
                style={{left: `${share(bar.from)}%`, width: `calc(${Math.max(0, share(bar.to) - share(bar.from))}% - 1px)`}} title={bar.words}>
                <span>{bar.step}</span></i>)}
            </span>
          </div>)}
        </div>
      </div>
    </div>
  </div>;
}
