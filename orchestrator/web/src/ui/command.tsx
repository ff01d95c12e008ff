// What an operator asks of a run: with a reason where the site wants one, and never twice for one press.
import {useState} from 'preact/hooks';
import {type Answer, type CommandAnswer, get, post, Problem, type Whoami} from '../api';
import {announce, Button, Dialog, Field, Trouble} from './base';

export interface Wish { command: string; title: string; explain?: string; node?: string; step?: string; steps?: string[]; danger?: boolean }

export const mayChange = (who?: Whoami) => who !== undefined && who.role !== 'viewer';

export function answered(answer: Answer, what: string): void {
  if (answer.approval) announce(`${what}: waits for the approval of a second person.`);
  else if (answer.answer === 'refused') announce(`${what}: refused: ${answer.why ?? 'no reason given'}`, true);
  else if (answer.answer === 'pending' || answer.answer === 'waiting') announce(`${what}: asked for; the controller has not answered yet.`);
  else announce(`${what}: done.`);
}

/// What the controller says to it; it looks at its commands every second or so.
async function awaited(run: number, asked: Answer): Promise<Answer> {
  let answer = asked;
  for (let tries = 0; tries < 20 && answer.command && (answer.answer === 'pending' || answer.answer === 'waiting'); ++tries) {
    await new Promise((done) => setTimeout(done, 250));
    try { answer = await get<CommandAnswer>(`/runs/${run}/commands/${answer.command}`); } catch { break; }
  }
  return answer;
}

export function CommandDialog({run, wish, who, onClose}: {run: number; wish: Wish; who: Whoami; onClose: () => void}) {
  const [reason, setReason] = useState('');
  const [step, setStep] = useState(wish.step ?? wish.steps?.[0] ?? '');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const needed = ['skip', 'cancel'].includes(wish.command) || (who.reason_required ?? []).includes(wish.command);
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await post<Answer>(`/runs/${run}/commands`, {
        command: wish.command, ...(wish.node ? {node: wish.node} : {}), ...(step ? {step} : {}), ...(reason.trim() ? {reason: reason.trim()} : {}),
      });
      answered(await awaited(run, answer), wish.title);
      onClose();
    } catch (thrown) {
      setProblem(thrown as Problem);
      setBusy(false);
    }
  };
  return <Dialog title={wish.title} onClose={onClose}>
    <form onSubmit={send}>
      {wish.explain && <p>{wish.explain}</p>}
      {wish.steps && <Field label="Step"><select value={step} onChange={(event) => setStep(event.currentTarget.value)}>
        {wish.steps.map((each) => <option key={each}>{each}</option>)}</select></Field>}
      <Field label={needed ? 'Reason' : 'Reason (optional)'} note="It is kept in the run's journal with your name.">
        <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} required={needed} maxLength={400} autoFocus autoComplete="off" />
      </Field>
      {(who.two_person ?? []).includes(wish.command) && <p class="quiet">This site asks a second person to approve it.</p>}
      {problem && <Trouble problem={problem} />}
      <footer><Button onClick={onClose}>Back</Button>
        <button type="submit" class={`button ${wish.danger ? 'danger' : 'primary'}`} disabled={busy || (needed && !reason.trim())}>{wish.title}</button></footer>
    </form>
  </Dialog>;
}

/// A light that is blinking on a machine, so that a person finds it.
export function Locate({node, who, large}: {node: string; who?: Whoami; large?: boolean}) {
  const [busy, setBusy] = useState(false);
  const [on, setOn] = useState<boolean | undefined>();
  if (!mayChange(who)) return null;
  const turn = async (wanted: boolean) => {
    setBusy(true);
    try {
      const answer = await post<{on: boolean}>(`/nodes/${encodeURIComponent(node)}/locate`, {on: wanted});
      setOn(answer.on ?? wanted);
      announce(`${node}: the locate light is ${answer.on ?? wanted ? 'on' : 'off'}.`);
    } catch (thrown) {
      announce(`${node}: the locate light does not change: ${(thrown as Problem).message}`, true);
    }
    setBusy(false);
  };
  return <span class="locate">
    <Button {...(large ? {large} : {})} disabled={busy} {...(on ? {kind: 'primary' as const} : {})} onClick={() => turn(!on)} label={`${on ? 'Turn off' : 'Turn on'} the locate light of ${node}`}>
      {busy ? 'Asking the BMC…' : on ? 'Light off' : 'Locate light'}</Button>
    {on === undefined && !large && <Button kind="bare" disabled={busy} onClick={() => turn(false)} label={`Turn off the locate light of ${node}`}>off</Button>}
  </span>;
}
