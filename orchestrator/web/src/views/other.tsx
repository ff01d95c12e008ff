// Loads the views of others.tsx when one is to be shown, and behind the first view, so that they are there by then.
import {useEffect, useState} from 'preact/hooks';
import type {Whoami} from '../api';
import {Button} from '../ui/base';

type Others = typeof import('./others');
let loaded: Others | undefined;
let loading: Promise<Others> | undefined;

/// Asks again where it failed before.
export function loadOthers(): Promise<Others> {
  loading ??= import('./others').then((all) => loaded = all, (problem) => { loading = undefined; throw problem; });
  return loading;
}

/// The file is gone where the service was updated: its name has its hash.
export function Other({who}: {who: Whoami}) {
  const [others, set] = useState(loaded);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (!others) loadOthers().then(set, () => setFailed(true));
  }, []);
  if (others) return <others.View who={who} />;
  return <div class="page">{failed
    ? <><h1>This view could not be loaded</h1><div class="trouble" role="alert">The service was updated since this page was opened, or cannot be reached.</div>
      <div class="buttons"><Button kind="primary" onClick={() => location.reload()}>Reload the page</Button></div></>
    : <p class="quiet" role="status">Loading…</p>}</div>;
}
