// What the service does by itself: runs that it starts at set times, and whom it tells what people should know of.
import type {NoticeHook, Run, Schedule} from '../api';
import {at, moment, plural, span, words} from '../format';
import {useList, useNow} from '../live';
import {link} from '../route';
import {Nothing, Panel, Shown} from '../ui/base';
import {Shape, State} from '../ui/state';
import {Stack, type Column} from '../ui/stack';
import {isFailing, isMissed} from './by_itself';

const ahead = (time: string | undefined, now: number) => at(time) > now ? `in ${span((at(time) - now) / 1000)}` : 'now';

/// What became of the run: its result where it is over.
function Started({run, known}: {run: number; known: Run | undefined}) {
  if (!known) return <><State state="started" /> run {run}</>;
  const result = known.state !== 'ended' ? known.state : known.fail ? 'fail' : known.inconclusive ? 'inconclusive' : 'pass';
  return <><State state={result} /> <a href={link('runs', run)}>run {run}</a>
    <div class="dim">{plural(known.nodes, 'node')}: {known.pass} pass, {known.fail} fail{known.inconclusive ? `, ${known.inconclusive} inconclusive` : ''}{known.in_work ? `, ${known.in_work} in work` : ''}</div></>;
}

function Last({of, runs}: {of: Schedule; runs: Map<number, Run>}) {
  if (!of.outcome) return <span class="dim">new</span>;
  if (of.outcome === 'first-seen') return <span class="dim">not yet: it begins with its next time</span>;
  return <>{of.run ? <Started run={of.run} known={runs.get(of.run)} /> : <State state={of.outcome} />}
    {of.due && <div class="dim">due {moment(of.due)}</div>}{of.why && <div>{of.why}</div>}</>;
}

const scheduleColumns = (runs: Map<number, Run>, now: number): Column<Schedule>[] => [
  {head: 'schedule', class: 'key', cell: (each) => <b>{each.name}</b>},
  {head: 'starts', cell: (each) => <>{each.playbook}{each.nodes && <div class="dim">on {each.nodes}</div>}{each.idle_only && <div class="dim">of these, what Slurm reports idle</div>}</>},
  {head: 'when', cell: (each) => <>{each.when}<div class="dim">{each.missed === 'skip' ? 'a missed time is skipped' : 'a missed time is made up for'}</div></>},
  {head: 'next', cell: (each) => <>{moment(each.next)}<div class="dim">{ahead(each.next, now)}</div></>},
  {head: 'last', class: 'wide', cell: (each) => <Last of={each} runs={runs} />},
];

const kKinds: Record<string, string> = {webhook: 'webhook', slack: 'Slack-compatible hook', mail: 'mail', otlp: 'OTLP receiver'};

const hookColumns = (now: number): Column<NoticeHook>[] => [
  {head: 'hook', class: 'key', cell: (each) => <><b>{each.name}</b><div class="dim">{kKinds[each.kind] ?? each.kind}{each.host && <> at {each.host}</>}</div></>},
  {head: 'takes', cell: (each) => <>{each.on.map(words).join(', ')}<div class="dim">{each.racks ? `of ${each.racks.length === 1 ? 'rack' : 'racks'} ${each.racks.join(', ')}` : 'of all racks'}</div></>},
  {head: 'held back', cell: (each) => <>{each.group_s ? `grouped over ${span(each.group_s)}` : 'sent one by one'}{each.quiet && <div class="dim">quiet {each.quiet}{each.urgent && `, but for ${each.urgent.join(', ')}`}</div>}</>},
  {head: 'last sent', cell: (each) => <>{each.last_sent ? <><Shape state="pass" /> {moment(each.last_sent)}</> : <span class="dim">nothing yet</span>}<div class="dim">{each.sent.toLocaleString('en')} in all</div></>},
  {head: 'waiting', cell: (each) => each.waiting ? <>{plural(each.waiting, 'notice')}{each.next && <div class="dim">{each.tries ? `tried ${plural(each.tries, 'time')}, again` : 'sent'} {ahead(each.next, now)}</div>}</> : <span class="dim">none</span>},
  {head: 'last failed', class: 'wide', cell: (each) => each.last_failed ? <><Shape state={isFailing(each) ? 'fail' : 'inconclusive'} /> {moment(each.last_failed)}{each.why && <div>{each.why}</div>}<div class="dim">{plural(each.lost, 'notice')} lost in all</div></> : <span class="dim">never</span>},
];

export function Schedules() {
  const schedules = useList<Schedule>('/schedules', {run: 'any', pause: 5000, every: 30_000});
  const hooks = useList<NoticeHook>('/notices', {run: 'any', pause: 5000, every: 30_000});
  const runs = useList<Run>('/runs?limit=1000', {run: 'any', pause: 5000, every: 60_000});
  const now = useNow(10_000);
  const byNumber = new Map((runs.data ?? []).map((run) => [run.run, run]));
  return <div class="page"><h1>Schedules and notices</h1>
    <Panel title="Schedules" flush aside={<span class="dim">“when” is local time of the service's machine</span>}>
      <Shown of={schedules}>{(all) => all.length
        ? <Stack label="schedules" items={all} columns={scheduleColumns(byNumber, now)} keyOf={(each) => each.name} bad={isMissed} />
        : <Nothing>The service starts nothing by itself. <code>schedules:</code> in its service.yaml says what, on which nodes, and when.</Nothing>}</Shown></Panel>
    <Panel title="Notices" flush>
      <Shown of={hooks}>{(all) => all.length
        ? <Stack label="hooks for notices" items={all} columns={hookColumns(now)} keyOf={(each) => each.name} bad={isFailing} />
        : <Nothing>The service tells nobody. <code>notices:</code> in its service.yaml names a webhook, a Slack-compatible hook or a mailbox.</Nothing>}</Shown></Panel>
  </div>;
}
