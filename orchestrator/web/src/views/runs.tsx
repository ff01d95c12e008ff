// All runs, and the form that starts one.
import {useState} from 'preact/hooks';
import {type Answer, type Plan, type Playbook, post, Problem, type Run, type Whoami} from '../api';
import {moment, person, span} from '../format';
import {useGet, useList} from '../live';
import {go, link} from '../route';
import {announce, Button, Field, Nothing, Panel, Rows, Cell, Shown, Trouble} from '../ui/base';
import {State, Tally} from '../ui/state';
import {mayChange} from '../ui/command';

export function Runs({who}: {who: Whoami}) {
  const runs = useList<Run>('/runs?limit=1000', {run: 'any', pause: 2000, every: 30_000});
  const [first, setFirst] = useState<number>();
  return <div class="page">
    <div class="titlebar"><h1>Runs</h1><span class="grow" />{mayChange(who) && <a class="button primary" href={link('start')}>Start a run</a>}</div>
    <Shown of={runs}>{(its) => !its.length ? <Nothing>No run yet.</Nothing> :
      <Rows two label="runs" items={its} height={44} most={Math.max(320, window.innerHeight - 190)} keyOf={(run) => run.run}
        head={<><Cell head class="c-run">run</Cell><Cell head class="c-state">state</Cell><Cell head class="c-time">began</Cell><Cell head class="c-span">took</Cell><Cell head class="c-tally">nodes</Cell><Cell head class="c-by">by</Cell><Cell head class="c-act">compare</Cell></>}
        row={(run) => <>
          <Cell class="c-run"><a href={link('runs', run.run)}><b>{run.run}</b> {run.playbook}</a>{run.rehearsal && <span class="tag">rehearsal</span>}</Cell>
          <Cell class="c-state"><State state={run.state} /></Cell>
          <Cell class="c-time">{moment(run.began)}</Cell>
          <Cell class="c-span">{span(run.seconds)}</Cell>
          <Cell class="c-tally"><Tally total={run.nodes} counts={[['pass', run.pass], ['fail', run.fail], ['inconclusive', run.inconclusive], ['running', run.in_work]]} />
            <small>{run.pass} pass, {run.fail} fail{run.inconclusive ? `, ${run.inconclusive} inconclusive` : ''}{run.in_work ? `, ${run.in_work} in work` : ''}</small></Cell>
          <Cell class="c-by" title={run.by ?? ''}>{person(run.by)}</Cell>
          <Cell class="c-act">{first === undefined || first === run.run
            ? <Button kind="bare" onClick={() => setFirst(first === run.run ? undefined : run.run)} label={`Compare run ${run.run}`}>{first === run.run ? 'chosen' : 'compare'}</Button>
            : <a href={link('compare', Math.min(first, run.run), Math.max(first, run.run))}>with {first}</a>}</Cell>
        </>} />}</Shown>
  </div>;
}

export function Start({who}: {who: Whoami}) {
  const playbooks = useList<Playbook>('/playbooks');
  const [playbook, setPlaybook] = useState('');
  const [nodes, setNodes] = useState('all');
  const [set, setSet] = useState<Record<string, string>>({});
  const [reason, setReason] = useState('');
  const [plan, setPlan] = useState<Plan>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const chosen = (playbooks.data ?? []).find((each) => each.name === playbook) ?? playbooks.data?.[0];
  const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value.trim() !== ''));
  const wish = {playbook: chosen?.name ?? '', nodes, ...(Object.keys(given).length ? {set: given} : {}), ...(reason.trim() ? {reason: reason.trim()} : {})};
  const changed = () => { setPlan(undefined); setProblem(undefined); };
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try { await work(); } catch (thrown) { setProblem(thrown as Problem); }
    setBusy(false);
  };
  if (!mayChange(who)) return <div class="page"><h1>Start a run</h1><Nothing>Your role is viewer: it starts no runs.</Nothing></div>;
  return <div class="page narrow">
    <h1>Start a run</h1>
    <Shown of={playbooks}>{(all) => <>
      <Panel title="What, and on which nodes">
        <form class="form" onSubmit={(event) => { event.preventDefault(); void attempt(async () => setPlan(await post<Plan>('/plans', wish))); }}>
          <Field label="Playbook" {...(chosen?.description ? {note: chosen.description} : {})}>
            <select value={chosen?.name} onChange={(event) => { setPlaybook(event.currentTarget.value); setSet({}); changed(); }}>{all.map((each) => <option key={each.name}>{each.name}</option>)}</select></Field>
          <Field label="Nodes" note="all, rack:a01, profile:dgx-h100, a01-n[01-04], !a01-n03, separated by commas">
            <input value={nodes} required onInput={(event) => { setNodes(event.currentTarget.value); changed(); }} spellcheck={false} autoComplete="off" /></Field>
          {(chosen?.parameters.length ?? 0) > 0 && <fieldset><legend>Parameters</legend><div class="fields">
            {chosen!.parameters.map((each) => <Field key={each.name} label={each.name}><input value={set[each.name] ?? ''} placeholder={each.value ?? ''} spellcheck={false}
              onInput={(event) => { setSet({...set, [each.name]: event.currentTarget.value}); changed(); }} /></Field>)}</div></fieldset>}
          <Field label={(who.reason_required ?? []).includes('start') ? 'Reason' : 'Reason (optional)'}><input value={reason} maxLength={400} onInput={(event) => setReason(event.currentTarget.value)} /></Field>
          {problem && <Trouble problem={problem} />}
          <footer><button class="button" type="submit" disabled={busy}>{plan ? 'Plan again' : 'Show the plan'}</button></footer>
        </form>
      </Panel>
      {plan && <Panel title="The plan">
        <p>{plan.groups.reduce((sum, group) => sum + group.nodes.length, 0)} nodes, {typeof plan.steps === 'number' ? plan.steps : plan.steps.length} steps, about {span(plan.forecast?.end_s)}.</p>
        {plan.groups.map((group, i) => <ol key={i} class="steps">{group.steps.map((step) => <li key={step.step} class={step.left_out ? 'dim' : ''}><b>{step.step}</b>{' '}
          {step.left_out ? `left out: ${step.left_out}` : span(step.expected_s)}</li>)}</ol>)}
        <footer><Button kind="primary" disabled={busy} onClick={() => attempt(async () => {
          const answer = await post<Answer>('/runs', wish);
          if (answer.run) go(link('runs', answer.run));
          else announce('The start waits for the approval of a second person.');
        })}>Start {chosen?.name} on {nodes}</Button></footer>
      </Panel>}
    </>}</Shown>
    <Approvals who={who} />
  </div>;
}

/// What another person asked for and a second one has to approve.
export function Approvals({who}: {who: Whoami}) {
  const open = useGet<{items: {approval: string; what: Record<string, unknown>; by: string; at: string}[]}>('/approvals', {run: 'any', pause: 5000, every: 30_000});
  const items = open.data?.items ?? [];
  if (!items.length) return null;
  const decide = async (id: string, decision: 'approve' | 'reject') => {
    try {
      await post(`/approvals/${encodeURIComponent(id)}`, {decision});
      announce(decision === 'approve' ? 'Approved.' : 'Rejected.');
    } catch (thrown) { announce((thrown as Problem).message, true); }
    open.again();
  };
  return <Panel title="Waits for a second person"><ul class="list">{items.map((each) => <li key={each.approval}><div>
    <b>{String(each.what['kind'] ?? each.what['command'] ?? 'request')}</b> by {person(each.by)}, {moment(each.at)}
    <div class="dim">{Object.entries(each.what).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')}</div>
    {mayChange(who) && each.by !== who.name && <p class="buttons"><Button kind="primary" onClick={() => decide(each.approval, 'approve')}>Approve</Button><Button onClick={() => decide(each.approval, 'reject')}>Reject</Button></p>}
  </div></li>)}</ul></Panel>;
}
