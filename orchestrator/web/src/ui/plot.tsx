// Curves over time, by uPlot: power under its limit, a GPU's telemetry.
import {useEffect, useRef} from 'preact/hooks';
import uPlot from 'uplot';
import {clock, kTimeSteps} from '../format';
import {kPaper, onPrint} from './print';

export interface Curve { label: string; values: (number | null)[]; color: string; dashed?: boolean; fill?: boolean; stepped?: boolean }

/// A CSS variable's colour as it is now; canvases know no variables.
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/// `seconds`: the x axis counts from 0, and is no time of day.
export function Plot({x, curves, unit, label, height = 220, seconds}: {
  x: number[]; curves: Curve[]; unit: (value: number) => string; label: string; height?: number; seconds?: boolean;
}) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const shape = curves.map((curve) => curve.label + curve.color).join('|');
  const data = [x, ...curves.map((curve) => curve.values)] as uPlot.AlignedData;
  const newest = useRef(data);
  newest.current = data;
  useEffect(() => {
    const box = element.current!;
    let most = Infinity;
    const width = () => Math.min(most, Math.max(200, box.clientWidth));
    const make = () => {
      plot.current?.destroy();
      const ink = colour('--dim'), line = colour('--line');
      const axis = {stroke: ink, grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1}, font: '11px system-ui'};
      plot.current = new uPlot({
        width: width(), height, legend: {live: true}, cursor: {points: {size: 6}},
        scales: {x: {time: false}, y: {range: (_self, low, high) => [Math.min(0, low), high <= 0 ? 1 : high * 1.08]}},
        series: [
          {label: seconds ? 'after' : 'at', value: (_self, value) => value === null ? '' : seconds ? `${Math.round(value)} s` : clock(value * 1000)},
          ...curves.map((curve) => ({
            label: curve.label, stroke: colour(curve.color), width: 1.5, ...(curve.dashed ? {dash: [6, 4]} : {}),
            ...(curve.fill ? {fill: colour(curve.color).replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)')} : {}),
            ...(curve.stepped ? {paths: uPlot.paths.stepped!({align: 1})} : {}),
            points: {show: false}, value: (_self: uPlot, value: number | null) => value === null ? '' : unit(value),
          })),
        ],
        axes: [
          {...axis, incrs: kTimeSteps, values: (_self, ticks) => ticks.map((tick) => seconds ? `${tick} s` : clock(tick * 1000, ticks.some((each) => each % 60 !== 0)))},
          {...axis, size: 62, values: (_self, ticks) => ticks.map(unit)},
        ],
      }, newest.current, box);
    };
    make();
    const observer = new ResizeObserver(() => plot.current?.setSize({width: width(), height}));
    observer.observe(box);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', make);
    window.addEventListener('cupel-theme', make);
    const forget = onPrint((printing) => { most = printing ? kPaper : Infinity; make(); });
    return () => {
      forget();
      observer.disconnect();
      scheme.removeEventListener('change', make);
      window.removeEventListener('cupel-theme', make);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape, height, seconds]);
  useEffect(() => { plot.current?.setData(data); }, [x, ...curves.map((curve) => curve.values)]);
  return <div class="plot" ref={element} role="img" aria-label={label} />;
}
