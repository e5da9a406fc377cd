import { WEB_SOCKET_PATH, type Serve } from './site.ts';

/** Colour of the whole page once its content is complete. */
export const CONTENT: readonly [number, number, number] = [0, 255, 0];

export interface LatePage {
  /** Describes when the content is complete. */
  readonly name: string;
  readonly html: string;
}

/** A page whose content arrives in the response of an API call, as in single-page applications. */
export const apiPage = (ms: number): LatePage =>
  late(`after an API call of ${ms} ms`, `fetch('/wait?ms=${ms}').then(show);`);

/** Pages whose content is complete only after their load event. */
export const latePages: readonly LatePage[] = [
  apiPage(300),
  apiPage(2_000),
  late(
    'after three chained API calls with pauses',
    `(async () => {
      for (const ms of [200, 300, 400]) {
        await (await fetch('/wait?ms=' + ms)).text();
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      show();
    })();`,
  ),
  late('after an answer and a debounced rendering', `fetch('/wait?ms=300').then(() => setTimeout(show, 500));`),
  late('after a timer', 'setTimeout(show, 900);'),
  late(
    'when the browser is idle after an answer',
    `fetch('/wait?ms=300').then(() => requestIdleCallback(() => requestIdleCallback(show)));`,
  ),
  late(
    'after the last of several changes',
    `fetch('/wait?ms=300').then(async () => {
      for (let row = 0; row < 6; row += 1) {
        document.body.append(document.createElement('p'));
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      show();
    });`,
  ),
  late('after a transition', `document.body.style.transition = 'background 0.8s'; fetch('/wait?ms=300').then(show);`),
  late(
    'after animation frames that go by the clock',
    `const start = performance.now();
    const step = () => (performance.now() - start < 900 ? requestAnimationFrame(step) : show());
    step();`,
  ),
  late('with a module that is imported later', `setTimeout(() => import('/module.js').then(show), 300);`),
  late(
    'after an answer to a worker',
    `const text = "fetch('" + location.origin + "/wait?ms=800').then(() => postMessage(1));";
    new Worker(URL.createObjectURL(new Blob([text]))).onmessage = show;`,
  ),
  late(
    'with an image that is inserted later',
    `fetch('/wait?ms=300').then(() => { document.body.innerHTML = '<img src="/picture.svg" style="position: fixed; inset: 0">'; });`,
  ),
  late('with the first message of an EventSource', `new EventSource('/late-event').onmessage = show;`),
  late(
    'with the first message of a WebSocket',
    `new WebSocket(location.origin.replace('http', 'ws') + '${WEB_SOCKET_PATH}').onmessage = show;`,
  ),
  { name: 'with a lazy image', html: '<!doctype html><body style="margin: 0"><img loading="lazy" src="/picture.svg">' },
  {
    name: 'in a frame',
    html: '<!doctype html><body style="margin: 0"><iframe src="/framed" style="border: 0; width: 1280px; height: 800px">',
  },
  late('on another page', `setTimeout(() => { location = '/framed'; }, 300);`),
];

/** Pages that display their content after an API call, and are not quiet before or after it. */
export const restlessPages: readonly LatePage[] = [
  restless('a long poll', `fetch('/never');`),
  restless('a WebSocket', `new WebSocket(location.origin.replace('http', 'ws') + '${WEB_SOCKET_PATH}');`),
  restless('an EventSource', `new EventSource('/events');`),
  restless('a stream', `fetch('/stream').then((response) => response.text());`),
  restless('beacons', `setInterval(() => navigator.sendBeacon('/never'), 100);`),
  restless('polls', `setInterval(() => fetch('/wait?ms=50'), 200);`),
  restless('polls that differ', `setInterval(() => fetch('/wait?ms=50&now=' + Math.random()), 1_000);`),
  restless(
    'an endless chain of animation frames',
    `let turn = 0; const draw = () => { document.body.style.outlineOffset = (turn++ % 9) + 'px'; requestAnimationFrame(draw); }; draw();`,
  ),
  restless('changing text', `setInterval(() => { document.body.append('.'); }, 30);`),
  restless(
    'an endless chain of animations',
    `const move = () => { document.body.animate([{ opacity: 0.9 }, { opacity: 1 }], 300).onfinish = move; }; move();`,
  ),
  restless(
    'a script that waits for its clock',
    `setTimeout(() => { const end = Date.now() + 50; while (Date.now() < end); }, 900);`,
  ),
];

/** A page that displays its content after an API call, and never fires its load event. */
export const unloadedPage = restless(
  'an image that never comes',
  `document.body.append(Object.assign(new Image(), { src: '/never' }));`,
);

/** Responses to the requests of the pages, by path. */
export const lateAnswers: Readonly<Record<string, Serve>> = {
  '/wait': (request, response) => {
    const ms = Number(new URL(request.url ?? '', 'http://page.test').searchParams.get('ms'));
    setTimeout(() => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'), ms);
  },
  '/never': () => undefined,
  '/events': endless('text/event-stream', 'data: x\n\n'),
  '/late-event': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    setTimeout(() => response.write('data: x\n\n'), 600);
  },
  '/stream': endless('application/x-ndjson', '{}\n'),
  '/module.js': (_request, response) => {
    setTimeout(() => response.writeHead(200, { 'Content-Type': 'text/javascript' }).end('export {}'), 400);
  },
  '/picture.svg': (_request, response) => {
    const picture =
      '<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="800"><rect width="1280" height="800" fill="lime"/></svg>';
    setTimeout(() => response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(picture), 400);
  },
  '/framed': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(late('', `fetch('/wait?ms=400').then(show);`).html);
  },
};

function late(name: string, script: string): LatePage {
  const html = `<!doctype html><body><h1>Loading</h1><script>
const show = () => { document.body.innerHTML = '<h1>Content</h1>'; document.body.style.backgroundColor = 'lime'; };
${script}
</script>`;
  return { name, html };
}

function restless(name: string, script: string): LatePage {
  return late(name, `${script} fetch('/wait?ms=600').then(show);`);
}

function endless(type: string, piece: string): Serve {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': type });
    const timer = setInterval(() => response.write(piece), 200);
    response.on('close', () => clearInterval(timer));
  };
}
