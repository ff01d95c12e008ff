// Text search over nodes, serial numbers, parts and models.
import type {Found} from '../api';
import {plural} from '../format';
import {useGet} from '../live';
import {link} from '../route';
import {Cell, Nothing, Rows, Shown} from '../ui/base';

const kIncomplete = ' The search ended before all records were looked at: write more of the text, or open the node.';

export function Search({text}: {text: string}) {
  const enough = text.trim().length >= 2;
  const known = useGet<{items: Found[]; incomplete?: boolean}>(enough ? `/search?q=${encodeURIComponent(text.trim())}&limit=1000` : undefined);
  return <div class="page"><h1>Search: {text}</h1>
    {!enough ? <Nothing>Write at least two characters: a node's name, a serial number, a part, a model.</Nothing> : <Shown of={known}>{({items: all, incomplete}) => { const items = once(all); return items.length ? <>
      <p class="dim" role="status">{plural(items.length, 'match', 'matches')}{incomplete && kIncomplete}</p>
      <Rows two label="matches" items={items} height={34} most={Math.max(300, window.innerHeight - 200)} keyOf={(each, i) => `${i} ${each.node} ${each.part ?? ''}`}
        head={<><Cell head class="c-kind">kind</Cell><Cell head class="c-words">text</Cell><Cell head class="c-step">part</Cell><Cell head class="c-node">node</Cell></>}
        row={(each) => <><Cell class="c-kind">{each.kind}</Cell><Cell class="c-words"><Marked text={each.text} needle={text.trim()} /></Cell><Cell class="c-step">{each.part}</Cell>
          <Cell class="c-node"><a href={each.run ? link('runs', each.run, 'nodes', each.node) : link('nodes', each.node)}>{each.node}</a></Cell></>} /></>
      : <Nothing>Nothing in the inventory or in a node's newest run has “{text}”.{incomplete && kIncomplete}</Nothing>; }}</Shown>}
  </div>;
}

/// Several stages may have reported the same part.
function once(items: Found[]): Found[] {
  const known = new Set<string>();
  return items.filter((each) => {
    const key = `${each.kind}\n${each.node}\n${each.part ?? ''}\n${each.text}`;
    return !known.has(key) && known.add(key);
  });
}

function Marked({text, needle}: {text: string; needle: string}) {
  const place = text.toLowerCase().indexOf(needle.toLowerCase());
  if (place < 0) return <>{text}</>;
  return <>{text.slice(0, place)}<mark>{text.slice(place, place + needle.length)}</mark>{text.slice(place + needle.length)}</>;
}
