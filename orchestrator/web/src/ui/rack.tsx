// Racks from the front, unit 1 at the bottom, each node in the colour and the shape of its state.
import type {ComponentChild} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import type {Row} from '../api';
import {natural} from '../format';
import {link} from '../route';
import {lookOf, Shape} from './state';

export interface Place { name: string; rack?: string; unit?: number; height?: number; state: string; run?: number; step?: string; note?: string; overdue?: boolean }

export const placeOf = (row: Row, run: number): Place => ({
  name: row.node, state: row.state, run, ...(row.rack ? {rack: row.rack} : {}), ...(row.unit ? {unit: row.unit} : {}),
  ...(row.height ? {height: row.height} : {}), ...(row.step && row.state === 'running' ? {step: row.step} : {}),
  ...(row.cause ?? row.waits_for ? {note: row.cause ?? row.waits_for ?? ''} : {}), ...(row.overdue ? {overdue: true} : {}),
});

/// What stands after the rack's name: a01-n07 in a01 is n07.
const shortened = (node: string, rack: string) => node.startsWith(rack) ? node.slice(rack.length).replace(/^[-_.]/, '') || node : node;

function Slot({place, rack, units}: {place: Place; rack: string; units: number}) {
  const height = Math.max(1, place.height ?? 1), unit = place.unit ?? 0;
  const look = lookOf(place.state);
  const words = `${place.name}: ${look.word}${place.step ? ` at ${place.step}` : ''}${place.overdue ? ', overdue' : ''}${place.note ? `: ${place.note}` : ''}`;
  return <a class={`slot s-${look.tone}`} href={place.run ? link('runs', place.run, 'nodes', place.name) : link('nodes', place.name)}
    style={{gridRow: `${Math.max(1, units - unit - height + 2)} / span ${height}`}} title={words} aria-label={words}>
    <Shape state={place.overdue ? 'overdue' : place.state} size={height > 1 ? 13 : 8} />
    <span aria-hidden="true">{shortened(place.name, rack)}</span>
    {height > 3 && <small aria-hidden="true" data-word={place.step ?? (place.state === 'pass' ? '' : look.word)} />}
  </a>;
}

/// Drawn again only where one of its places has changed: of 200 racks, an event is about one.
export function Rack({name, units, places, dense}: {name: string; units: number; places: Place[]; dense: boolean}) {
  const last = useRef<{units: number; dense: boolean; places: Place[]; drawn: ComponentChild}>();
  const same = last.current?.units === units && last.current.dense === dense && last.current.places.length === places.length && last.current.places.every((each, i) => each === places[i]);
  if (!same) last.current = {units, dense, places, drawn: <Drawn name={name} units={units} places={places} dense={dense} />};
  return last.current!.drawn;
}

const kUnit = 6.5, kDenseUnit = 3.5;  // pixels
const kMany = 24;  // racks, of which as many as possible are to be in view

function Drawn({name, units, places, dense}: {name: string; units: number; places: Place[]; dense: boolean}) {
  const bad = places.filter((place) => place.state === 'fail' || place.state === 'needs-operator').length;
  const fits = places.every((place) => (place.unit ?? 0) + (place.height ?? 1) - 1 <= units);
  const rows = fits ? units : Math.max(...places.map((place) => (place.unit ?? 0) + (place.height ?? 1) - 1));
  return <section class="rack" aria-label={`rack ${name}`}>
    <h3>{name}{bad > 0 && <span class="count t-fail">{bad}</span>}</h3>
    <div class="frame" style={{gridTemplateRows: `repeat(${rows}, minmax(0, 1fr))`, height: `${dense ? Math.min(230, Math.max(120, rows * kDenseUnit)) : Math.min(420, Math.max(200, rows * kUnit))}px`}}>
      {[...places].sort((a, b) => (b.unit ?? 0) - (a.unit ?? 0)).map((place) => <Slot key={place.name} place={place} rack={name} units={rows} />)}
    </div>
  </section>;
}

const kRackArea = 48_000, kMostFirst = 48;  // square pixels of a rack with what is around it; racks

export function Elevations({racks, places}: {racks: {name: string; units: number; room?: string}[]; places: Place[]}) {
  const byRack = new Map<string, Place[]>();
  const loose: Place[] = [];
  for (const place of places)
    if (place.rack && place.unit) byRack.set(place.rack, [...(byRack.get(place.rack) ?? []), place]);
    else loose.push(place);
  const rooms = new Map<string, typeof racks>();
  const known = new Set(racks.map((rack) => rack.name));
  const all = [...racks, ...[...byRack.keys()].filter((name) => !known.has(name)).map((name) => ({name, units: 48, room: ''}))];
  for (const rack of all.filter((each) => byRack.has(each.name)).sort((a, b) => natural(a.name, b.name)))
    rooms.set(rack.room ?? '', [...(rooms.get(rack.room ?? '') ?? []), rack]);
  const dense = byRack.size > kMany;
  // The others are drawn behind the first view.
  const [more, setMore] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setMore(true));
    return () => clearTimeout(timer);
  }, []);
  let left = more ? Infinity : Math.min(kMostFirst, Math.ceil(innerWidth * innerHeight / kRackArea));
  const drawn = [...rooms].map(([room, its]) => [room, its.slice(0, Math.max(0, left)), left -= its.length] as const).filter(([, its]) => its.length > 0);
  return <>
    {drawn.map(([room, its]) => <div class="room" key={room}>
      {room && rooms.size > 1 && <h3 class="roomname">Room {room}</h3>}
      <div class={`racks${dense ? ' dense' : ''}`}>{its.map((rack) => <Rack key={rack.name} name={rack.name} units={rack.units} places={byRack.get(rack.name)!} dense={dense} />)}</div>
    </div>)}
    {loose.length > 0 && <div class="room"><h3 class="roomname">Without a place in a rack</h3><div class="loose">
      {loose.map((place) => <a key={place.name} class={`slot s-${lookOf(place.state).tone}`} href={place.run ? link('runs', place.run, 'nodes', place.name) : link('nodes', place.name)}
        title={lookOf(place.state).word}><Shape state={place.state} /><span>{place.name}</span></a>)}
    </div></div>}
  </>;
}
