// Every view but the overview and the login, and which of them an address means. A file of its own in the browser: other.tsx
// loads it.
import type {Whoami} from '../api';
import {useRoute} from '../route';
import {Actions} from './actions';
import {Compare} from './compare';
import {Fabric} from './fabric';
import {NodeView, SiteNodeView} from './node';
import {Requalify} from './requalify';
import {RunView} from './run';
import {Runs, Start} from './runs';
import {Schedules} from './schedules';
import {Search} from './search';

export function View({who}: {who: Whoami}) {
  const {path, query} = useRoute();
  const [first = '', second = '', third = '', fourth = ''] = path;
  const id = Number(second);
  if (first === 'start') return <Start who={who} />;
  if (first === 'actions') return <Actions who={who} />;
  if (first === 'schedules') return <Schedules />;
  if (first === 'search') return <Search text={query.get('q') ?? ''} />;
  if (first === 'nodes' && second) return <SiteNodeView node={second} />;
  if (first === 'requalify' && second) return <Requalify key={second} node={second} who={who} {...(Number(query.get('look')) > 0 ? {look: Number(query.get('look'))} : {})} />;
  if (first === 'fabric') return <Fabric {...(id > 0 ? {id} : {})} />;
  if (first === 'compare' && id > 0 && Number(third) > 0) return <Compare first={id} second={Number(third)} {...(query.get('node') ? {only: query.get('node')!} : {})} />;
  if (first === 'runs' && !second) return <Runs who={who} />;
  if (first === 'runs' && id > 0 && third === 'nodes' && fourth) return <NodeView key={`${id} ${fourth}`} run={id} node={fourth} who={who} />;
  if (first === 'runs' && id > 0 && !third) return <RunView key={id} id={id} who={who} />;
  return <div class="page"><h1>There is nothing here</h1><p><a href="#/">To the overview</a></p></div>;
}
