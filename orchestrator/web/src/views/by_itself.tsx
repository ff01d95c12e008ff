// What went wrong of what the service does by itself, for the overview.
import type {NoticeHook, Schedule} from '../api';
import {at, moment} from '../format';
import {useList} from '../live';
import {link} from '../route';
import {Panel} from '../ui/base';
import {Shape} from '../ui/state';

/// A start that did not come about, and a hook that does not take what it is sent.
export const isMissed = (each: Schedule) => each.outcome === 'refused' || each.outcome === 'skipped';
export const isFailing = (each: NoticeHook) => each.last_failed !== undefined && !(at(each.last_sent) > at(each.last_failed));

/// On the overview: only where something is wrong.
export function ByItselfTrouble() {
  const schedules = useList<Schedule>('/schedules', {every: 60_000}).data?.filter(isMissed) ?? [];
  const hooks = useList<NoticeHook>('/notices', {every: 60_000}).data?.filter(isFailing) ?? [];
  if (!schedules.length && !hooks.length) return null;
  return <Panel title="Schedules and notices" aside={<a href={link('schedules')}>all</a>}><ul class="list">
    {schedules.map((each) => <li key={`s ${each.name}`}><Shape state={each.outcome!} /><div>{each.name} was {each.outcome}, due {moment(each.due)}<div class="dim">{each.why}</div></div></li>)}
    {hooks.map((each) => <li key={`n ${each.name}`}><Shape state="fail" /><div>{each.name} takes no notices since {moment(each.last_failed)}<div class="dim">{each.why}</div></div></li>)}
  </ul></Panel>;
}
