// The pieces of which views are made.
import type {ComponentChildren} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {Problem} from '../api';
import type {Known} from '../live';
import {kMostOnPaper, usePrinting} from './print';

export function Panel({title, aside, children, id, wide, flush}: {
  title: ComponentChildren; aside?: ComponentChildren; children: ComponentChildren; id?: string; wide?: boolean; flush?: boolean;
}) {
  return <section class={`panel${wide ? ' wide' : ''}${flush ? ' flush' : ''}`} id={id}>
    <header><h2>{title}</h2>{aside && <div class="aside">{aside}</div>}</header>
    <div class="body">{children}</div>
  </section>;
}

export function Trouble({problem}: {problem: Problem}) {
  return <div class="trouble" role="alert">
    <b>{problem.message}</b>
    {problem.errors.length > 0 && <ul>{problem.errors.map((each, i) => <li key={i}><code>{each.where}</code> {each.what}</li>)}</ul>}
  </div>;
}

/// What is known, or why not, or that it is on its way.
export function Shown<T>({of, children}: {of: Known<T>; children: (data: T) => ComponentChildren}) {
  if (of.data !== undefined) return <>{of.problem && <Trouble problem={of.problem} />}{children(of.data)}</>;
  if (of.problem) return <Trouble problem={of.problem} />;
  return <p class="quiet" role="status">Loading…</p>;
}

export const Nothing = ({children}: {children: ComponentChildren}) => <p class="quiet">{children}</p>;

export function Button({children, onClick, kind, disabled, title, label, large}: {
  children: ComponentChildren; onClick?: () => void; kind?: 'primary' | 'danger' | 'bare'; disabled?: boolean; title?: string;
  label?: string; large?: boolean;
}) {
  return <button type="button" class={`button ${kind ?? ''}${large ? ' large' : ''}`} onClick={onClick} disabled={disabled} title={title}
    aria-label={label}>{children}</button>;
}

/// A question over the page; Escape and the button close it. Focus stays within and goes back.
export function Dialog({title, onClose, children}: {title: string; onClose: () => void; children: ComponentChildren}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return <dialog ref={element} class="dialog" aria-label={title} onCancel={(event) => { event.preventDefault(); onClose(); }}
    onClick={(event) => { if (event.target === element.current) onClose(); }}>
    <div class="inside"><header><h2>{title}</h2><Button kind="bare" onClick={onClose} label="Close">✕</Button></header>{children}</div>
  </dialog>;
}

/// Whether the window is as narrow as a phone's; as in style.css.
function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 760px)'));
  const [narrow, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return narrow;
}

const kSecondLine = 20;  // pixels

/// A list of which only the rows in view are in the document; on paper the first of them all. All rows are of one height.
/// `two`: on a phone a row has a second line, so that what it says is not beyond the edge.
export function Rows<T>({items, height: line, row, label, most = 560, head, keyOf, two}: {
  items: T[]; height: number; row: (item: T, index: number) => ComponentChildren; label: string; most?: number;
  head?: ComponentChildren; keyOf: (item: T, index: number) => string | number; two?: boolean;
}) {
  const printing = usePrinting();
  const split = useNarrow() && two && !printing;
  const height = split ? line + kSecondLine : line;
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({top: 0, height: most});
  useLayoutEffect(() => {
    const box = element.current!;
    const look = () => setView((old) => old.top === box.scrollTop && old.height === box.clientHeight ? old : {top: box.scrollTop, height: box.clientHeight});
    look();
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener('scroll', look, {passive: true});
    return () => { observer.disconnect(); box.removeEventListener('scroll', look); };
  }, []);
  const all = printing ? Math.min(items.length, kMostOnPaper) : items.length;
  const first = printing ? 0 : Math.max(0, Math.floor(view.top / height) - 8);
  const last = printing ? all : Math.min(all, Math.ceil((view.top + view.height) / height) + 8);
  const shown = items.slice(first, last);
  return <div class={`rows${split ? ' two' : ''}`} role="table" aria-label={label} aria-rowcount={items.length + (head ? 1 : 0)} ref={element} tabIndex={0}
    style={{maxHeight: `${most}px`}}>
    {head && <div class="row head" role="row" aria-rowindex={1}>{head}</div>}
    <div class="space" role="rowgroup" style={{height: `${all * height}px`}}>
      <div style={{transform: `translateY(${first * height}px)`}} role="presentation">
        {shown.map((item, i) => <div class="row" role="row" aria-rowindex={first + i + (head ? 2 : 1)} style={{height: `${height}px`}}
          key={keyOf(item, first + i)}>{row(item, first + i)}</div>)}
      </div>
    </div>
    {all < items.length && <p class="quiet">and {(items.length - all).toLocaleString('en')} more, which are not printed</p>}
  </div>;
}

export const Cell = ({children, class: name, head, title}: {children?: ComponentChildren; class?: string; head?: boolean; title?: string}) =>
  <div role={head ? 'columnheader' : 'cell'} class={name} title={title}>{children}</div>;

/// Choices of which one holds.
export function Choice<T extends string>({of, value, onChange, label}: {
  of: readonly (readonly [T, string])[]; value: T; onChange: (value: T) => void; label: string;
}) {
  return <div class="choice" role="group" aria-label={label}>
    {of.map(([each, word]) => <button type="button" key={each} aria-pressed={each === value} onClick={() => onChange(each)}>{word}</button>)}
  </div>;
}

export function Field({label, children, note}: {label: string; children: ComponentChildren; note?: string}) {
  return <label class="field"><span>{label}</span>{children}{note && <small>{note}</small>}</label>;
}

/// A message for a moment, read out too.
let say: (text: string, bad?: boolean) => void = () => {};
export const announce = (text: string, bad = false) => say(text, bad);
export function Announcements() {
  const [told, set] = useState<{text: string; bad: boolean} | undefined>();
  useEffect(() => { say = (text, bad = false) => set({text, bad}); return () => { say = () => {}; }; }, []);
  useEffect(() => {
    if (!told) return;
    const timer = window.setTimeout(() => set(undefined), told.bad ? 12_000 : 5_000);
    return () => clearTimeout(timer);
  }, [told]);
  return <div class="announce" role="status" aria-live="polite">{told && <div class={told.bad ? 'bad' : ''}>{told.text}</div>}</div>;
}
