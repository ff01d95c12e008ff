// Who is there: by a token, which the server takes once for a cookie that no script can read.
import {useState} from 'preact/hooks';
import {logIn, Problem, type Whoami} from '../api';
import {Field, Trouble} from '../ui/base';

export function Login({onDone}: {onDone: (who: Whoami) => void}) {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try { onDone(await logIn(token.trim())); } catch (thrown) { setProblem(thrown as Problem); setBusy(false); }
  };
  return <main class="login" id="content"><form class="panel" onSubmit={send}>
    <h1>Cupel</h1>
    <p>Log in with your token. An administrator makes one with <code>cupel token add NAME --role operator</code>.</p>
    <Field label="Token"><input type="password" value={token} onInput={(event) => setToken(event.currentTarget.value)} autoComplete="current-password" required autoFocus spellcheck={false} /></Field>
    {problem && <Trouble problem={problem} />}
    <footer><button class="button primary" type="submit" disabled={busy || !token.trim()}>Log in</button></footer>
  </form></main>;
}
