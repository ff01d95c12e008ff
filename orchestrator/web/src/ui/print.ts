// Paper: all of a list, and light colours. The browser lays a page out for it right behind its event, so what changes is
// drawn at once.
import {options} from 'preact';
import {useEffect, useState} from 'preact/hooks';

export const kPaper = 640;         // pixels that a drawing has on A4 with margins
export const kMostOnPaper = 1000;  // rows of a list

const listeners = new Set<(printing: boolean) => void>();

function tell(printing: boolean): void {
  if (printing) document.documentElement.dataset['printing'] = '';
  else delete document.documentElement.dataset['printing'];
  const before = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  for (const each of [...listeners]) each(printing);
  if (before) options.debounceRendering = before; else delete options.debounceRendering;
}
if (typeof window !== 'undefined') {
  window.addEventListener('beforeprint', () => tell(true));
  window.addEventListener('afterprint', () => tell(false));
}

/// Calls `on` before the page is laid out for paper, and behind it.
export function onPrint(on: (printing: boolean) => void): () => void {
  listeners.add(on);
  return () => { listeners.delete(on); };
}

export function usePrinting(): boolean {
  const [printing, set] = useState(false);
  useEffect(() => onPrint(set), []);
  return printing;
}
