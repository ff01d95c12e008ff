// Numbers and times as people read them.

export const at = (time?: string) => time ? Date.parse(time) : NaN;

export function span(seconds?: number): string {
  if (seconds === undefined || !isFinite(seconds)) return '';
  const s = Math.max(0, seconds);
  if (s < 10) return `${s.toFixed(s < 1 ? 2 : 1).replace(/\.0+$/, '')} s`;
  if (s < 100) return `${Math.round(s)} s`;
  if (s < 6000) return `${Math.floor(s / 60)} min ${String(Math.round(s % 60) % 60).padStart(2, '0')} s`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h ${String(Math.floor(s % 3600 / 60)).padStart(2, '0')} min`;
  return `${(s / 86400).toFixed(1)} days`;
}

const two = (n: number) => String(n).padStart(2, '0');
export function clock(ms: number, seconds = true): string {
  if (!isFinite(ms)) return '';
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}${seconds ? ':' + two(d.getSeconds()) : ''}`;
}
export function day(ms: number): string {
  if (!isFinite(ms)) return '';
  const d = new Date(ms);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}
/// The date too, where it is not today.
export function moment(time?: string): string {
  const ms = at(time);
  if (!isFinite(ms)) return '';
  return day(ms) === day(Date.now()) ? clock(ms, false) : `${day(ms)} ${clock(ms, false)}`;
}

export function number(value?: number | null, digits = 4): string {
  if (value === undefined || value === null || !isFinite(value)) return '';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return value.toLocaleString('en');
  if (size >= 1e6 || size < 1e-3) return value.toPrecision(digits).replace(/\.?0+(e|$)/, '$1');
  const text = value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
export const quantity = (value?: number | null, unit?: string) => [number(value), unit ?? ''].filter(Boolean).join(' ');

export function watts(value?: number): string {
  if (value === undefined || !isFinite(value)) return '';
  return value >= 1e6 ? `${(value / 1e6).toFixed(2)} MW` : value >= 1000 ? `${(value / 1000).toFixed(1)} kW` : `${Math.round(value)} W`;
}
export function bytes(value?: number): string {
  if (value === undefined) return '';
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; value >= 1024 && i < units.length - 1; ++i) value /= 1024;
  return `${i ? value.toFixed(1).replace(/\.0$/, '') : value} ${units[i]}`;
}
export const plural = (n: number, one: string, many = one + 's') => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

/// gpu10 comes after gpu9.
const collator = new Intl.Collator('en', {numeric: true});
export const natural = (a: string, b: string) => collator.compare(a, b);

/// "[01-03,07]" of 01, 02, 03 and 07; "01" of 01 alone.
function bracketed(numbers: string[]): string {
  numbers.sort(natural);
  const ranges: string[] = [];
  for (let i = 0; i < numbers.length;) {
    let j = i;
    while (j + 1 < numbers.length && Number(numbers[j + 1]) === Number(numbers[j]) + 1) ++j;
    ranges.push(i === j ? numbers[i]! : `${numbers[i]}-${numbers[j]}`);
    i = j + 1;
  }
  return ranges.length === 1 && !ranges[0]!.includes('-') ? ranges[0]! : `[${ranges.join(',')}]`;
}

/// Names that differ by one number alone as one. `form`: what stands before the number, the number, what stands behind it.
function foldedBy(names: string[], form: RegExp): string[] {
  const groups = new Map<string, {before: string; after: string; numbers: string[]}>();
  const rest: string[] = [];
  for (const name of names) {
    const [, before, number, after] = form.exec(name) ?? [];
    if (before === undefined || number === undefined || after === undefined) { rest.push(name); continue; }
    const group = groups.get(`${before} ${after}`);
    if (group) group.numbers.push(number);
    else groups.set(`${before} ${after}`, {before, after, numbers: [number]});
  }
  return [...[...groups.values()].map(({before, after, numbers}) => before + bracketed(numbers) + after), ...rest];
}

/// v01-n[01-03,07], v[02-40]-n01: by the last number, then by the first.
export function folded(names: string[], most = 60): string {
  const all = foldedBy(foldedBy(names, /^(.*?)(\d+)()$/), /^([^\d[]*)(\d+)(\D.*)$/).join(', ');
  return names.length > most && all.length > 200 ? all.slice(0, 200) + '…' : all;
}

/// Of "alice (10.0.0.5 token 0123)" the name.
export const person = (by?: string) => (by ?? '').split(' (')[0]!;

export const words = (kind: string) => kind.replace(/[_-]/g, ' ');

/// Seconds between marks of an axis of time: a clock has no 100 s.
export const kTimeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
