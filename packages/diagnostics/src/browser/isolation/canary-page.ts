/** Targets that the canary page tries to reach, and how it reports that it has tried all. */
export interface CanaryTargets {
  /** `host:port` for requests over HTTP, HTTPS and WebSocket, an IPv6 address in brackets. */
  readonly web: readonly string[];
  /** `host:port` for STUN, TURN, ICE candidates and WebTransport. */
  readonly datagrams: readonly string[];
  /** Path that the page requests, from its own origin, when it has finished. */
  readonly donePath: string;
}

/**
 * Number of short timers for which the page waits after its attempts. A single long timer could expire during a stall,
 * in which nothing else runs.
 */
const PATIENCE_TURNS = 14;
/** Duration of one of the `PATIENCE_TURNS` timers. */
const TURN_MS = 50;

/**
 * HTML of a page that tries to bypass the proxy by the APIs, elements and attributes below, each of which can open
 * connections. An attempt that throws does not prevent the next.
 */
export function canaryPage({ web, datagrams, donePath }: CanaryTargets): string {
  return `<!doctype html>
<html><head><title>canary</title>
${web.map((target, index) => markup(`http://${target}/canary/${index}`)).join('\n')}
</head><body style="background: #00a000">
<script>
const web = ${scriptText(web)}, datagrams = ${scriptText(datagrams)};
const attempt = (run) => { try { const made = run(); if (made && made.catch) made.catch(() => {}); } catch {} };
const element = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields));
for (const target of web) {
  const http = 'http://' + target + '/canary/script', https = 'https://' + target + '/canary/script';
  attempt(() => fetch(http, { mode: 'no-cors' }));
  attempt(() => fetch(https, { mode: 'no-cors', keepalive: true }));
  attempt(() => fetch(http, { mode: 'no-cors', targetAddressSpace: 'local' }));
  attempt(() => navigator.sendBeacon(http, 'x'));
  attempt(() => { const request = new XMLHttpRequest(); request.open('POST', http); request.send('x'); });
  attempt(() => new WebSocket('ws://' + target + '/canary/socket'));
  attempt(() => new WebSocket('wss://' + target + '/canary/socket'));
  attempt(() => new EventSource(http));
  attempt(() => new Image().src = http + '-image');
  attempt(() => window.open(http + '-window'));
  attempt(() => new Worker(URL.createObjectURL(new Blob(["importScripts('" + http + "'); fetch('" + http + "')"]))));
  attempt(() => element('iframe', { src: http + '-frame' }));
  attempt(() => element('iframe', { srcdoc: '<meta http-equiv=refresh content="0;url=' + http + '-refresh">' }));
  attempt(() => element('iframe', { srcdoc: '<form id=f method=post action="' + http + '-form"></form><script>f.submit()</scr' + 'ipt>' }));
  attempt(() => element('object', { data: http + '-object' }));
  attempt(() => element('video', { src: http + '-video', autoplay: true, muted: true }));
  attempt(() => element('a', { href: '#', ping: http + '-ping', id: 'ping' }));
  attempt(() => document.getElementById('ping').click());
  attempt(() => document.fonts.add(new FontFace('canary', 'url(' + http + '-font)')));
  attempt(() => document.fonts.load('1em canary'));
}
for (const target of datagrams) {
  attempt(() => {
    const peer = new RTCPeerConnection({ iceServers: [
      { urls: ['stun:' + target, 'turn:' + target + '?transport=udp', 'turn:' + target + '?transport=tcp'], username: 'u', credential: 'p' },
    ], iceCandidatePoolSize: 1 });
    peer.createDataChannel('canary');
    const [host, port] = [target.slice(0, target.lastIndexOf(':')).replace(/[\\[\\]]/g, ''), target.slice(target.lastIndexOf(':') + 1)];
    const candidate = 'candidate:1 1 udp 2122260223 ' + host + ' ' + port + ' typ host';
    const other = new RTCPeerConnection();
    return peer.createOffer()
      .then((offer) => Promise.all([peer.setLocalDescription(offer), other.setRemoteDescription(offer)]))
      .then(() => other.createAnswer())
      .then((answer) => Promise.all([other.setLocalDescription(answer), peer.setRemoteDescription(answer)]))
      .then(() => peer.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 }));
  });
  attempt(() => new WebTransport('https://' + target + '/canary').ready);
}
let turns = ${PATIENCE_TURNS};
const wait = () => turns-- > 0 ? setTimeout(wait, ${TURN_MS}) : attempt(() => fetch('${donePath}'));
wait();
</script></body></html>`;
}

function markup(url: string): string {
  return `<link rel="dns-prefetch" href="${url}"><link rel="preconnect" href="${url}">
<link rel="prefetch" href="${url}-prefetch"><link rel="preload" as="image" href="${url}-preload">
<link rel="modulepreload" href="${url}-module"><link rel="stylesheet" href="${url}-style">
<link rel="prerender" href="${url}-prerender"><link rel="icon" href="${url}-icon">
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${url}-speculation"]}]}</script>
<img src="${url}-img" alt=""><style>body { background-image: url(${url}-background) }</style>`;
}

/** JSON that can be inside a script element: without `<` it cannot contain the end tag. */
function scriptText(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}
