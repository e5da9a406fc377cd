/** Size of the viewport and of every screenshot, in CSS pixels, which are device pixels here. */
export const VIEWPORT = { width: 1280, height: 800 } as const;

export interface BrowserFlagOptions {
  /** Port of the filtering proxy on 127.0.0.1. */
  readonly proxyPort: number;
  readonly profileFolder: string;
  readonly userAgent: string;
  /** False if `/dev/shm` is too small for a page: the browser then shares memory through files. */
  readonly hasSharedMemory: boolean;
}

/**
 * The command line of a browser that reaches only the proxy. It never contains `--no-sandbox` or a debugging port:
 * commands use descriptors 3 and 4.
 */
export function browserFlags({
  proxyPort,
  profileFolder,
  userAgent,
  hasSharedMemory,
}: BrowserFlagOptions): readonly string[] {
  return [...isolationFlags(proxyPort), ...quietFlags, ...(hasSharedMemory ? [] : ['--disable-dev-shm-usage'])].concat(
    `--user-data-dir=${profileFolder}`,
    `--user-agent=${userAgent}`,
    `--window-size=${VIEWPORT.width},${VIEWPORT.height}`,
    'about:blank',
  );
}

/** Flags that leave the browser no connections except those to the proxy. */
function isolationFlags(proxyPort: number): readonly string[] {
  return [
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    // Without this flag, requests to loopback and link-local addresses bypass the proxy.
    '--proxy-bypass-list=<-loopback>',
    // Against STUN and TURN over UDP: each of these two flags is read by another part of the browser.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    // The browser itself resolves nothing; names go to the proxy as they are.
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--no-pings',
    '--block-new-web-contents',
  ];
}

const quietFlags: readonly string[] = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-gpu',
  '--disable-sync',
  '--disable-features=MediaRouter,OptimizationHints,Translate',
  '--hide-scrollbars',
  '--metrics-recording-only',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
  // Limit of the old generation of V8's heap in each renderer, MiB; `launch.ts` bounds the resident memory of all
  // processes.
  '--js-flags=--max-old-space-size=256',
];
