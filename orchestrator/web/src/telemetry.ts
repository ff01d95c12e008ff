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

/// `places`: the machine's GPUs by their PCI address. Programs number only the GPUs that they see.
export function telemetryOf(stage: string, evidence: string, places: [address: string, name: string][] = []): Telemetry | undefined {
  const lines = evidence.split('\n');
  const output = lines.indexOf('# standard output');
  const begin = lines.indexOf('cupel-section: samples', Math.max(0, output));
  if (begin < 0) return undefined;
  const period = Number(/^period=(\d+)$/m.exec(evidence)?.[1] ?? 5) || 5;
  const names = new Map<string, string>();
  for (const [where, name] of places) names.set(address(where), name);
  for (const line of places.length ? [] : lines.slice(Math.max(0, output), begin)) {
    if (!line.startsWith('{"kind":"start"')) continue;
    try {
      for (const gpu of JSON.parse(line).gpus ?? []) names.set(address(String(gpu.pci)), `gpu${Number(gpu.index)}`);
    } catch { /* a line that was cut off */ }
  }
  const found = new Map<string, Telemetry['gpus'][number]>();
  for (let i = begin + 1; i < lines.length && i - begin < kMostSamples && !lines[i]!.startsWith('cupel-'); ++i) {
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
