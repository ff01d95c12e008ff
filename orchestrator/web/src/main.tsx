// The frame of the page: who is there, where we are, and how to get elsewhere.
import {render} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {logOut, type OperatorAction, Problem, type Status, type Whoami, whoami} from './api';
import {isOverview} from './first';
import {firstViewDrawn, startListening, useDrawn, useGet, useLink} from './live';
import {go, link, useRoute} from './route';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import {Announcements, Button, Dialog, Trouble} from './ui/base';
import {Login} from './views/login';
import {loadOthers, Other} from './views/other';
import {Overview} from './views/overview';

type Theme = 'auto' | 'light' | 'dark';
const kTheme = 'cupel-theme';

function useTheme(): [Theme, () => void] {
  const [theme, set] = useState<Theme>(() => (localStorage.getItem(kTheme) as Theme | null) ?? 'auto');
  useEffect(() => {
    localStorage.setItem(kTheme, theme);
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    window.dispatchEvent(new CustomEvent('cupel-theme'));
  }, [theme]);
  return [theme, () => set(theme === 'auto' ? 'dark' : theme === 'dark' ? 'light' : 'auto')];
}

const kPlaces = [['', 'Overview', 'o'], ['runs', 'Runs', 'r'], ['actions', 'Actions', 'a'], ['fabric', 'Fabric', 'f'], ['schedules', 'Schedules', 't']] as const;
const kKeys: [string, string][] = [
  ['/', 'search'], ['g o', 'overview'], ['g r', 'runs'], ['g a', 'operator actions'], ['g f', 'fabric'], ['g t', 'schedules and notices'], ['g s', 'start a run'],
  ['?', 'this list'], ['Tab, arrows, Page Up and Down', 'move in lists and drawings'], ['Esc', 'close a question'],
];

/// "g" and then a letter goes somewhere; "/" searches.
function useKeys(onHelp: () => void, search: {current: HTMLInputElement | null}): void {
  useEffect(() => {
    let before = 0;
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || document.querySelector('dialog[open]')) return;
      const after = Date.now() - before < 1200;
      before = 0;
      if (after) {
        const place = event.key === 's' ? 'start' : kPlaces.find(([, , key]) => key === event.key)?.[0];
        if (place !== undefined) { event.preventDefault(); go(place ? link(place) : '#/'); }
      } else if (event.key === 'g') before = Date.now();
      else if (event.key === '/') { event.preventDefault(); search.current?.focus(); }
      else if (event.key === '?') onHelp();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
}

/// Its other views are in a file of their own, which the first view does not wait for.
function View({who}: {who: Whoami}) {
  const {path} = useRoute();
  return path.length ? <Other who={who} /> : <Overview who={who} />;
}

function Frame({who, onGone}: {who: Whoami; onGone: () => void}) {
  const {path, query} = useRoute();
  const [theme, nextTheme] = useTheme();
  const [help, setHelp] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const content = useRef<HTMLElement>(null);
  const connection = useLink();
  const status = useGet<Status>('/status', {every: 60_000});
  const drawn = useDrawn();
  const actions = useGet<{actions: OperatorAction[]}>(drawn ? '/actions' : undefined, {run: 'any', pause: 5000, every: 30_000});
  useKeys(() => setHelp(true), search);
  useEffect(() => { if (path.length) firstViewDrawn(); }, []);  // the overview says itself when it is
  useEffect(() => drawn ? startListening(onGone) : undefined, [drawn]);
  useEffect(() => {
    if (!drawn) return;
    const timer = setTimeout(() => { loadOthers().catch(() => {}); }, kBehind);  // shown where such a view is
    return () => clearTimeout(timer);
  }, [drawn]);
  useEffect(() => { if (status.problem?.status === 401) onGone(); }, [status.problem]);
  const where = path.join(' ');
  useEffect(() => {
    document.title = `${path.length ? path.map((part) => part).join(' ') : 'Overview'} · Cupel${status.data?.site ? ` ${status.data.site}` : ''}`;
    window.scrollTo(0, 0);
  }, [where, status.data?.site]);
  const count = actions.data?.actions.length ?? 0;
  return <>
    <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); content.current?.focus(); }}>To the content</a>
    <header class="bar">
      <a class="brand" href="#/">Cupel{status.data?.site && <span>{status.data.site}</span>}</a>
      <nav aria-label="views">{kPlaces.map(([place, word]) => <a key={place} href={place ? link(place) : '#/'} aria-current={(path[0] ?? '') === place ? 'page' : undefined}>
        {word}{place === 'actions' && count > 0 && <span class="count" aria-label={`${count} to do`}>{count}</span>}</a>)}</nav>
      <form class="search" role="search" onSubmit={(event) => { event.preventDefault(); const text = search.current!.value.trim(); if (text) go(`#/search?q=${encodeURIComponent(text)}`); }}>
        <input ref={search} type="search" placeholder="Node, serial, part" aria-label="Search nodes, serial numbers and parts" aria-keyshortcuts="/" defaultValue={path[0] === 'search' ? query.get('q') ?? '' : ''} />
      </form>
      <span class={`link l-${connection}`} role="status" title="events of the server">{connection === 'live' ? 'live' : connection === 'lost' ? 'connecting again' : 'connecting'}</span>
      <Button kind="bare" onClick={nextTheme} label={`Colours: ${theme}. Change them`}>{theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◐'}</Button>
      <Button kind="bare" onClick={() => setHelp(true)} label="Keys, and who you are">?</Button>
    </header>
    {status.data?.rehearsal && <aside class="rehearsal" aria-label="rehearsal">REHEARSAL: virtual machines, invented numbers; no proof of any real machine</aside>}
    <main id="content" ref={content} tabIndex={-1}><View who={who} /></main>
    <Announcements />
    {help && <Dialog title="Keys" onClose={() => setHelp(false)}>
      <dl class="keys">{kKeys.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <p>You are <b>{who.name}</b>, {who.role}{who.racks ? `, for racks ${who.racks.join(', ')}` : ''}, by {who.kind}.{status.data && <span class="dim"> Cupel {status.data.version}.</span>}</p>
      <footer>{who.csrf && <Button onClick={() => { void logOut().finally(onGone); }}>Log out</Button>}</footer>
    </Dialog>}
  </>;
}

function App() {
  const [who, setWho] = useState<Whoami>();
  const [problem, setProblem] = useState<Problem>();
  const [out, setOut] = useState(false);
  useLayoutEffect(() => {
    asked.then(async (who) => {
      await Promise.race([globalThis.cupelAhead, new Promise((late) => setTimeout(late, kTogether))]);
      setWho(who);
    }).catch((thrown: Problem) => { if (thrown.status === 401) setOut(true); else setProblem(thrown); });
  }, []);
  if (who) return <Frame who={who} onGone={() => { setWho(undefined); setOut(true); }} />;
  if (out) return <Login onDone={(now) => { setOut(false); setWho(now); }} />;
  return <main class="login" id="content">{problem ? <div class="panel"><h1>Cupel</h1><Trouble problem={problem} /><footer><Button onClick={() => location.reload()}>Try again</Button></footer></div> : <p class="quiet" role="status">Loading…</p>}</main>;
}

/// So long behind the first view, the others are loaded.
const kBehind = 1000;  // milliseconds

/// What has come by then is drawn with the frame around it, at once.
const kTogether = 100;  // milliseconds

/// Before anything is drawn: ahead.ts has asked it already.
const asked = whoami();
if (!isOverview(location.hash)) loadOthers().catch(() => {});

const page = document.getElementById('page')!;
page.replaceChildren();
render(<App />, page);
