import type { IncomingMessage, ServerResponse } from 'node:http';

export interface HostilePage {
  readonly name: string;
  /** Expected effect: the screenshot fails always, never, or perhaps. */
  readonly costs: 'the screenshot' | 'nothing' | 'perhaps the screenshot';
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void;
}

const frames = `for (let i = 0; i < 200; i++) {
  const frame = document.createElement('iframe');
  frame.src = location.href + '?' + Math.random();
  document.body.append(frame);
}`;

const workers = `const text = 'for (;;) postMessage(new Uint8Array(1 << 20));';
for (let i = 0; i < 100; i++) new Worker(URL.createObjectURL(new Blob([text])));`;

const downloads = `for (let i = 0; i < 100; i++) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(['x'.repeat(1 << 20)]));
  link.download = 'virus' + i + '.exe';
  document.body.append(link);
  link.click();
}`;

const permissions = `Notification.requestPermission?.();
navigator.geolocation?.getCurrentPosition(() => {});
navigator.mediaDevices?.getUserMedia({ audio: true, video: true }).catch(() => {});
document.documentElement.requestFullscreen().catch(() => {});
onbeforeunload = () => 'stay';
setTimeout(print);`;

const database = `const opening = indexedDB.open('x', 1);
opening.onupgradeneeded = () => opening.result.createObjectStore('x', { autoIncrement: true });
opening.onsuccess = () => {
  const write = () => {
    const all = opening.result.transaction('x', 'readwrite');
    for (let i = 0; i < 20; i++) all.objectStore('x').add(new Uint8Array(1 << 20));
    all.oncomplete = all.onabort = write;
  };
  write();
};`;

/** Pages that try to exhaust the browser, the agent or the machine. */
export const hostilePages: readonly HostilePage[] = [
  scripted(
    'fills the memory',
    'the screenshot',
    'const all = []; for (;;) all.push(new Uint8Array(32 << 20).fill(1));',
  ),
  scripted('never ends its script', 'the screenshot', 'for (;;);'),
  { name: 'never ends', costs: 'nothing', serve: endless },
  scripted('opens dialogs without end', 'the screenshot', 'for (;;) { alert(1); confirm(2); prompt(3); }'),
  { name: 'is a download', costs: 'the screenshot', serve: download },
  scripted('floods the console', 'the screenshot', 'for (;;) console.log("x".repeat(1e5));'),
  scripted('starts downloads', 'nothing', downloads),
  scripted('fills the heap of its scripts', 'the screenshot', 'const all = []; for (;;) all.push([Math.random()]);'),
  scripted('opens windows', 'nothing', 'for (let i = 0; i < 500; i++) window.open(location.href + "?" + i);'),
  scripted('nests itself in frames', 'perhaps the screenshot', frames),
  scripted('starts workers', 'perhaps the screenshot', workers),
  scripted(
    'asks for everything',
    'perhaps the screenshot',
    'setInterval(() => { for (let i = 0; i < 200; i++) fetch("/x" + Math.random()).catch(() => {}); }, 10);',
  ),
  scripted('loads itself again', 'perhaps the screenshot', 'setTimeout(() => location.reload(), 20);'),
  scripted('prints and asks for permissions', 'nothing', permissions),
  scripted('fills a database', 'perhaps the screenshot', database),
  scripted(
    'is a million pixels long',
    'nothing',
    'document.body.style.cssText = "height: 1000000px; width: 1000000px";',
  ),
];

function scripted(name: string, costs: HostilePage['costs'], script: string): HostilePage {
  return {
    name,
    costs,
    serve: (_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><body><h1>${name}</h1><script>${script}</script></body>`);
    },
  };
}

function endless(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Content-Type', 'text/html');
  response.write('<!doctype html><body><h1>It goes on and on</h1>');
  const timer = setInterval(() => response.write('<p>and on'), 5);
  response.on('close', () => clearInterval(timer));
}

function download(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Content-Type', 'application/octet-stream');
  response.setHeader('Content-Disposition', 'attachment; filename="virus.exe"');
  response.end('MZ'.repeat(1_000));
}
