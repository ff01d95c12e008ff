import {render} from 'preact';
import './style.css';

render(<main>Cupel</main>, document.getElementById('page')!);
