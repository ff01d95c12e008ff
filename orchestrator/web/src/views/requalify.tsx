// A node after a repair: a look at what is there now, what that makes void, and the run that tests it again.
import {useEffect, useRef, useState} from 'preact/hooks';
import {type Answer, post, Problem, type Requalification, type Run, type Whoami} from '../api';
import {plural, span} from '../format';
import {useGet} from '../live';
import {go, link} from '../route';
import {announce, Button, Field, Nothing, Panel, Shown, Trouble} from '../ui/base';
import {mayChange} from '../ui/command';
import {State} from '../ui/state';

/// "gpu3, dimm A7": as the server takes it.
export const partsOf = (text: string): string[] => text.split(',').map((each) => each.trim()).filter((each) => each !== '');

/// Whether there is something to run.
export const hasWork = (plan: Requalification): boolean =>
  plan.new_machine === true || [plan.again, plan.open, plan.elsewhere].some((each) => (each?.length ?? 0) > 0);

/// Of answers only the newest, and none that was dropped since it was asked for: what is started is what stands in the form.
export function onlyNewest() {
  let newest = 0;
  return {
    drop: () => { ++newest; },
    take: async <T,>(answer: Promise<T>): Promise<T | undefined> => {
      const mine = ++newest, got = await answer;
      return mine === newest ? got : undefined;
    },
  };
}

function PlanPanel({plan, ready, busy, onStart}: {plan: Requalification; ready: boolean; busy: boolean; onStart: () => void}) {
  const again = plan.again ?? [];
  return <Panel title={`What is to be tested again, since run ${plan.of_run}`}>
    <pre class="console plan" tabIndex={0} role="region" aria-label="the plan">{plan.text}</pre>
    {again.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="stages"><table><thead><tr><th scope="col">stage</th><th scope="col" class="num">takes</th><th scope="col">because</th></tr></thead>
      <tbody>{again.map((each) => <tr key={each.stage}><td>{each.stage}</td><td class="num">{span(each.seconds)}</td><td>{each.why.join('; ')}</td></tr>)}</tbody></table></div>}
    {hasWork(plan) && <footer>{ready
      ? <Button kind="primary" disabled={busy} onClick={onStart}>{plan.new_machine ? 'Run all of it' : `Start ${plural(again.length, 'stage')}, about ${span(plan.seconds)}`}</Button>
      : <p class="quiet">It starts behind a look alone: what was not seen is never called unchanged.</p>}</footer>}
  </Panel>;
}

export function Requalify({node, look, who}: {node: string; look?: number; who: Whoami}) {
  const [replaced, setReplaced] = useState('');
  const [swap, setSwap] = useState(false);
  const [fresh, setFresh] = useState(false);
  const [reason, setReason] = useState('');
  const [plan, setPlan] = useState<Requalification>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const plans = useRef(onlyNewest()).current;
  const looked = useGet<Run>(look ? `/runs/${look}` : undefined, {...(look ? {run: look} : {}), pause: 1000, every: 5000});
  const over = looked.data?.run === look && looked.data?.state === 'ended';
  const where = `/nodes/${encodeURIComponent(node)}`;
  const said = {...(partsOf(replaced).length ? {replaced: partsOf(replaced)} : {}), ...(swap ? {after_swap: true} : {})};
  const known = {...said, ...(look ? {looked: look} : {}), ...(fresh ? {new_machine: true} : {})};
  const because = reason.trim() ? {reason: reason.trim()} : {};
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try { await work(); } catch (thrown) { setProblem(thrown as Problem); }
    setBusy(false);
  };
  const ask = () => attempt(async () => { setPlan(undefined); setPlan(await plans.take(post<Requalification>(`${where}/requalify-plan`, known))); });
  useEffect(() => { if (over) void ask(); }, [over, look]);
  if (!mayChange(who)) return <div class="page"><h1>Requalify {node}</h1><Nothing>Your role is viewer: it starts no runs.</Nothing></div>;
  const changed = () => { plans.drop(); setPlan(undefined); setProblem(undefined); };
  return <div class="page narrow">
    <h1>Requalify {node}</h1>
    <Panel title="After the repair">
      <form class="form" onSubmit={(event) => { event.preventDefault(); void ask(); }}>
        <Field label="Replaced parts (optional)" note="gpu3, dimm A7, cable:mlx5_5, bmc. What reports a serial number is found without.">
          <input value={replaced} spellcheck={false} autoComplete="off" maxLength={1000} onInput={(event) => { setReplaced(event.currentTarget.value); changed(); }} /></Field>
        <label class="check"><input type="checkbox" checked={swap} disabled={fresh} onChange={(event) => { setSwap(event.currentTarget.checked); changed(); }} /> Two parts changed places: measure again what failed</label>
        <label class="check"><input type="checkbox" checked={fresh} disabled={swap} onChange={(event) => { setFresh(event.currentTarget.checked); changed(); }} /> Another chassis has taken the place: run all of it</label>
        <Field label="Reason (optional)"><input value={reason} maxLength={400} onInput={(event) => setReason(event.currentTarget.value)} /></Field>
        {problem && <Trouble problem={problem} />}
        <footer>
          <button class="button" type="submit" disabled={busy || (look !== undefined && !over)}>{look ? 'Plan again' : 'Plan by what is known'}</button>
          <Button kind="primary" disabled={busy} onClick={() => attempt(async () => {
            const answer = await post<Answer>(`${where}/look`, {...said, ...because});
            changed();
            if (answer.run) go(`${link('requalify', node)}?look=${answer.run}`);
          })}>{look ? 'Read it again' : 'Read what is there now'}</Button></footer>
      </form>
    </Panel>
    {look !== undefined && <Panel title="The look"><Shown of={looked}>{(run) => <p><a href={link('runs', run.run)}>Run {run.run}</a> <State state={run.state} />
      {!over && run.state !== 'cancelled' && ' It reads parts, serial numbers and versions; a few minutes.'}</p>}</Shown></Panel>}
    {plan && <PlanPanel plan={plan} ready={over} busy={busy} onStart={() => attempt(async () => {
      const answer = await post<Answer>(`${where}/requalify`, {...known, ...because});
      if (answer.run) go(link('runs', answer.run));
      else announce('The start waits for the approval of a second person.');
    })} />}
  </div>;
}
