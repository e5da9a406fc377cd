import './style/index.css';

import { render } from 'preact';

import { App } from './app.tsx';
import { openService } from './service.ts';

const root = document.querySelector('#page')!;
root.replaceChildren();
render(<App service={openService()} />, root);
