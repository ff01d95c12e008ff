// A GPU's telemetry while a stage of cupel-burn ran, from the stage's raw output: one line a GPU for each sample, as
// nvidia-smi printed it (address, temperature, of the memory, throttle reasons, power, its limit, SM clock).

export interface Telemetry {
  stage: string; x: number[];  // seconds from the first sample
  gpus: {name: string; temperature: (number | null)[]; memory: (number | null)[]; power: (number | null)[]; limit?: number; clock: (number | null)[]; reasons: number[]}[];
}

/// NVML's names of what holds a GPU's clocks down (nvmlClocksEventReasons).
const kReasons: [number, string][] = [
  [0x1, 'idle'], [0x2, 'application clocks'], [0x4, 'power cap'], [0x8, 'hardware slowdown'], [0x10, 'sync boost'],
  [0x20, 'thermal, by software'], [0x40, 'thermal, by hardware'], [0x80, 'power brake'], [0x100, 'display clock'],
];
export const reasonsOf = (mask: number): string[] => kReasons.filter(([bit]) => (mask & bit) !== 0).map(([, name]) => name);

/// Hexadecimal digits of a PCI address, whose domain has four or eight of them.
const address = (text: string) => text.trim().toLowerCase().replace(/^0+(?=[0-9a-f]{4}:)/, '').replace(/^[0-9a-f]*([0-9a-f]{4}:)/, '$1');

const kMostSamples = 200_000;

/// What cupel-node reported of these tools, one text each: pieces while they ran, and the rest as evidence. Lines with `of` are
/// those of stages beside this one.
function printedBy(lines: string[], tools: string[]): string {
  let text = '';
  for (const line of lines) {
    if (!line.startsWith('{"kind":"piece"') && !line.startsWith('{"kind":"evidence"')) continue;
    try {
      const value = JSON.parse(line);
      if (!('of' in value) && tools.includes(value.name) && typeof value.out === 'string') text += value.out;
    } catch { /* a line that was cut off */ }
  }
  return text;
}

/// `places`: the machine's GPUs by their PCI address. Programs number only the GPUs that they see.
export function telemetryOf(stage: string, evidence: string, places: [address: string, name: string][] = []): Telemetry | undefined {
  const all = evidence.split('\n');
  const output = all.slice(Math.max(0, all.indexOf('# standard output')));
  // A shell script of earlier versions printed sections.
  const section = output.indexOf('cupel-section: samples');
  const lines = section < 0 ? printedBy(output, ['samples']).split('\n') : output.slice(section + 1);
  const before = section < 0 ? printedBy(output, ['self-test', 'run']).split('\n') : output.slice(0, section);
  const period = Number(/^period=(\d+)$/m.exec(evidence)?.[1] ?? /"period":(\d+)/.exec(evidence)?.[1] ?? 5) || 5;
  const names = new Map<string, string>();
  for (const [where, name] of places) names.set(address(where), name);
  for (const line of places.length ? [] : before) {
    if (!line.startsWith('{"kind":"start"')) continue;
    try {
      for (const gpu of JSON.parse(line).gpus ?? []) names.set(address(String(gpu.pci)), `gpu${Number(gpu.index)}`);
    } catch { /* a line that was cut off */ }
  }
  const found = new Map<string, Telemetry['gpus'][number]>();
  for (let i = 0; i < lines.length && i < kMostSamples && !lines[i]!.startsWith('cupel-'); ++i) {
    const fields = lines[i]!.split(',').map((field) => field.trim());
    if (fields.length < 7) continue;
    const where = address(fields[0]!);
    const value = (field: string | undefined) => field !== undefined && /^-?\d+(\.\d+)?$/.test(field) ? Number(field) : null;
    let gpu = found.get(where);
    if (!gpu) found.set(where, gpu = {name: names.get(where) ?? where, temperature: [], memory: [], power: [], clock: [], reasons: []});
    gpu.temperature.push(value(fields[1]));
    gpu.memory.push(value(fields[2]));
    gpu.reasons.push(/^0x[0-9a-f]+$/i.test(fields[3]!) ? parseInt(fields[3]!.slice(-8), 16) : 0);
    gpu.power.push(value(fields[4]));
    const limit = value(fields[5]);
    if (limit !== null) gpu.limit = limit;
    gpu.clock.push(value(fields[6]));
  }
  const gpus = [...found.values()].sort((a, b) => a.name.localeCompare(b.name, 'en', {numeric: true}));
  const most = Math.max(0, ...gpus.map((gpu) => gpu.power.length));
  return most ? {stage, x: Array.from({length: most}, (_, i) => i * period), gpus} : undefined;
}
