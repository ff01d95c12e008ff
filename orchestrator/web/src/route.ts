// Where in the page we are: what stands behind the # of the address.
import {useEffect, useState} from 'preact/hooks';

export interface Route { path: string[]; query: URLSearchParams }

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return {path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query)};
}
function decode(text: string): string {
  try { return decodeURIComponent(text); } catch { return text; }
}

export const link = (...path: (string | number)[]) => '#/' + path.map((part) => encodeURIComponent(String(part))).join('/');
export const go = (hash: string) => { location.hash = hash; };

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => set(parse(location.hash));
    window.addEventListener('hashchange', changed);
    return () => window.removeEventListener('hashchange', changed);
  }, []);
  return route;
}
