// States of nodes, runs and steps: a colour, a shape and a word each, so that none needs the colour.

export interface Look { word: string; tone: string; shape: string }

const kDisc = 'M8 1.500a6.500 6.500 0 1 1 0 13 6.500 6.500 0 0 1 0-13z';
const kShapes: Record<string, string> = {
  check: `${kDisc}M6.900 11.200l5-5.200-1.100-1.100-3.900 4.100-1.800-1.800L4 8.300z`,
  cross: 'M2 3.200C2 2.500 2.500 2 3.200 2h9.600c.7 0 1.200.5 1.200 1.200v9.600c0 .7-.5 1.200-1.200 1.200H3.200C2.500 14 2 13.500 2 12.800zM5.300 4.200L4.200 5.300 6.900 8l-2.700 2.700 1.100 1.100L8 9.100l2.700 2.700 1.100-1.100L9.100 8l2.700-2.700-1.100-1.100L8 6.900z',
  triangle: 'M8 1.200l7.200 13H.8zM7.200 5.800v4.400h1.600V5.800zm0 5.400v1.600h1.600v-1.600z',
  half: 'M8 1.500a6.500 6.500 0 1 1 0 13 6.500 6.500 0 0 1 0-13zm0 1.600a4.900 4.900 0 1 0 4.900 4.900H8z',
  ring: 'M8 1.500a6.500 6.500 0 1 1 0 13 6.500 6.500 0 0 1 0-13zm0 1.400a5.100 5.100 0 1 0 0 10.200A5.100 5.100 0 0 0 8 2.900z',
  again: 'M8 2a6 6 0 0 1 4.700 2.300L14 3v4.200H9.800l1.700-1.700A4.300 4.300 0 1 0 12.200 9h1.700A6 6 0 1 1 8 2z',
  diamond: 'M8 .6L15.400 8 8 15.400.6 8zM7.200 4.400v4.800h1.600V4.400zm0 5.800v1.600h1.600v-1.600z',
  dash: 'M8 1.500a6.500 6.500 0 1 1 0 13 6.500 6.500 0 0 1 0-13zm0 1.400a5.100 5.100 0 1 0 0 10.200A5.100 5.100 0 0 0 8 2.900zM4.800 7.200h6.400v1.600H4.800z',
  pause: `${kDisc}M5.400 5v6h1.800V5zm3.400 0v6h1.800V5z`,
  clock: `${kDisc}M7.200 4v4.600l3.200 1.900.8-1.300-2.400-1.400V4z`,
};

const kLooks: Record<string, Look> = {
  pass: {word: 'pass', tone: 'pass', shape: 'check'},
  done: {word: 'done', tone: 'pass', shape: 'check'},
  accepted: {word: 'accepted', tone: 'pass', shape: 'check'},
  fail: {word: 'fail', tone: 'fail', shape: 'cross'},
  failed: {word: 'failed', tone: 'fail', shape: 'cross'},
  rejected: {word: 'rejected', tone: 'fail', shape: 'cross'},
  refused: {word: 'refused', tone: 'fail', shape: 'cross'},
  inconclusive: {word: 'inconclusive', tone: 'unsure', shape: 'triangle'},
  running: {word: 'running', tone: 'run', shape: 'half'},
  'in work': {word: 'in work', tone: 'run', shape: 'half'},
  started: {word: 'started', tone: 'run', shape: 'half'},
  begun: {word: 'being started', tone: 'run', shape: 'half'},
  submitted: {word: 'submitted', tone: 'wait', shape: 'ring'},
  waiting: {word: 'waiting', tone: 'wait', shape: 'ring'},
  open: {word: 'open', tone: 'wait', shape: 'ring'},
  'between-tries': {word: 'tries again', tone: 'unsure', shape: 'again'},
  'needs-operator': {word: 'needs an operator', tone: 'hand', shape: 'diamond'},
  'needs-repair': {word: 'needs repair', tone: 'hand', shape: 'diamond'},
  ended: {word: 'ended', tone: 'wait', shape: 'dash'},
  skipped: {word: 'skipped', tone: 'wait', shape: 'dash'},
  cancelled: {word: 'cancelled', tone: 'wait', shape: 'dash'},
  interrupted: {word: 'interrupted', tone: 'unsure', shape: 'pause'},
  paused: {word: 'paused', tone: 'unsure', shape: 'pause'},
  overdue: {word: 'overdue', tone: 'unsure', shape: 'clock'},
  none: {word: 'no run yet', tone: 'wait', shape: 'ring'},
};
export const lookOf = (state: string): Look => kLooks[state.replace(/ /g, '-')] ?? kLooks[state] ?? {word: state.replace(/[_-]/g, ' '), tone: 'wait', shape: 'dash'};

/// The shape alone; what is beside it says the word.
export function Shape({state, size = 14}: {state: string; size?: number}) {
  const look = lookOf(state);
  return <svg class={`shape t-${look.tone}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={kShapes[look.shape]} fill="currentColor" fill-rule="evenodd" />
  </svg>;
}

export function State({state, plain}: {state: string; plain?: boolean}) {
  const look = lookOf(state);
  return <span class={plain ? 'state plain' : `state t-${look.tone}`}><Shape state={state} />{look.word}</span>;
}

/// A bar of so many nodes of each state, with the same as words.
export function Tally({counts, total}: {counts: [state: string, count: number][]; total: number}) {
  const shown = counts.filter(([, count]) => count > 0);
  const label = shown.map(([state, count]) => `${count} ${lookOf(state).word}`).join(', ');
  return <div class="tally" role="img" aria-label={`of ${total} nodes: ${label || 'none'}`}>
    {shown.map(([state, count]) => <span key={state} class={`b-${lookOf(state).tone}`} style={{flexGrow: count}} />)}
  </div>;
}

export function Legend({states}: {states: string[]}) {
  return <ul class="legend">{states.map((state) => <li key={state}><State state={state} /></li>)}</ul>;
}
