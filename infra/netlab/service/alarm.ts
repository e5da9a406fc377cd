import { setTimeout as sleep } from 'node:timers/promises';

import { unpackPackages } from '@vantage/test-support/debian-packages';

import { openServiceLab, type ServiceLab } from './lab.ts';

/**
 * Treatment of the packets of `fails` by a router: `y` drops all of them, 60 % by chance, or those to the port of a TCP
 * check; `exit`, on the way of both probes, resets the connections to that port; or `core` refuses them by an ICMP
 * error.
 */
export type Fault = 'silence' | 'loss' | 'filter' | 'resets' | 'refusal';

/** One alarm of a monitor of this lab. */
export interface BuiltAlarm {
  /** From the end of the check that made the monitor bad to the start of the last trace, milliseconds. */
  readonly traceDelayMs: number;
  readonly sentence: string;
  readonly traced: readonly string[];
}

/**
 * `works` and `fails` have `m` and `core` in common; `core` sends the packets of one over `x` and of the other over
 * `y`. Addresses look public; no packet leaves the namespaces.
 */
export const CORE = '62.65.3.2';
export const [ONWARD, BROKEN] = ['77.73.5.2', '78.46.5.2'] as const;
/** The target has an address for each fault, so that all of them can be there at the same time. */
const TARGETS: Readonly<Record<Fault, string>> = {
  silence: '185.15.9.9',
  loss: '185.15.9.10',
  filter: '185.15.9.11',
  resets: '185.15.9.12',
  refusal: '185.15.9.13',
};
const PORT = 443;
const [WORKS, FAILS] = ['62.65.1.9', '62.65.2.9'] as const;

const links = [
  `works ${WORKS} m 62.65.1.1`,
  `fails ${FAILS} m 62.65.2.1`,
  `m 62.65.3.1 core ${CORE}`,
  `core 77.73.5.1 x ${ONWARD}`,
  `core 78.46.5.1 y ${BROKEN}`,
  'x 77.73.6.1 exit 77.73.6.2',
  'y 78.46.6.1 exit 78.46.6.2',
  `exit 185.15.9.1 target ${TARGETS.silence}`,
];

const routes = [
  'works: route add default via 62.65.1.1',
  'fails: route add default via 62.65.2.1',
  'm: route add default via 62.65.3.2',
  'core: route add 62.65.0.0/16 via 62.65.3.1',
  `core: route add default via ${ONWARD}`,
  `core: rule add from ${FAILS} lookup 100`,
  `core: route add default via ${BROKEN} table 100`,
  'x: route add default via 77.73.6.2',
  'x: route add 62.65.0.0/16 via 77.73.5.1',
  'y: route add default via 78.46.6.2',
  'y: route add 62.65.0.0/16 via 78.46.5.1',
  `exit: route add 62.65.1.0/24 via 77.73.6.1`,
  `exit: route add 62.65.2.0/24 via 78.46.6.1`,
  'exit: route add 62.65.3.0/24 via 77.73.6.1',
  'target: route add default via 185.15.9.1',
  ...Object.values(TARGETS)
    .slice(1)
    .map((address) => `target: address add ${address}/32 dev lo`),
];

const common = { every: '10s', alarm: { when: '1 of 2', for: 1 } };
const probes = ['works', 'fails'];
const pinged = (fault: Fault): object => ({
  ...common,
  check: { type: 'ping', host: TARGETS[fault], probes, options: { count: 10, interval: 200 } },
  expect: { maxLoss: 0.15 },
});
const connected = (fault: Fault): object => ({
  ...common,
  check: { type: 'tcp', host: TARGETS[fault], port: PORT, probes },
});
/** A monitor for each fault, with its name. */
const monitors: Readonly<Record<Fault, object>> = {
  silence: pinged('silence'),
  loss: pinged('loss'),
  filter: connected('filter'),
  resets: connected('resets'),
  refusal: connected('refusal'),
};

export interface AlarmLab {
  readonly alarm: (fault: Fault) => Promise<BuiltAlarm>;
  readonly close: () => Promise<void>;
}

/** A service that monitors a target from two probes. */
export async function openAlarmLab(): Promise<AlarmLab> {
  const tools = await unpackPackages('nftables');
  const library = `LD_LIBRARY_PATH=${tools.environment['LD_LIBRARY_PATH'] ?? ''}`;
  const lab = await openServiceLab({ links, routes, probes, transport: 'redis', monitors });
  const server = `createServer((socket) => socket.on('error', () => socket.destroy()).end()).listen(${PORT})`;
  lab.start('target', process.execPath, '-e', `require('node:net').${server}`);
  const nft = (node: string, commands: string): void =>
    void lab.run(node, 'env', library, tools.program('nft'), commands);
  return {
    alarm: async (fault) => {
      const { node, rule } = faults[fault];
      await untilState(lab, fault, 'ok');
      const packets = `ip saddr ${FAILS} ip daddr ${TARGETS[fault]}`;
      nft(node, `table ip ${fault} {\n chain c {\n type filter hook forward priority 0;\n ${packets} ${rule}\n}\n}`);
      try {
        return await alarmOf(lab, fault);
      } finally {
        nft(node, `delete table ip ${fault}`);
      }
    },
    close: lab.close,
  };
}

/** The treatment of the packets of `fails` by a router, by fault. */
const faults: Readonly<Record<Fault, { readonly node: string; readonly rule: string }>> = {
  silence: { node: 'y', rule: 'drop' },
  loss: { node: 'y', rule: 'numgen random mod 100 < 60 drop' },
  filter: { node: 'y', rule: `tcp dport ${PORT} drop` },
  resets: { node: 'exit', rule: `tcp dport ${PORT} reject with tcp reset` },
  refusal: { node: 'core', rule: `tcp dport ${PORT} reject with icmp type admin-prohibited` },
};

const LOOKS_EVERY_MS = 200;
const [PATIENCE_MS, TRACED_WITHIN_MS] = [300_000, 250_000];

async function untilState(lab: ServiceLab, monitor: string, state: 'ok' | 'bad') {
  return until(PATIENCE_MS, async () => {
    const { body } = await lab.ask({ path: `/monitors/${monitor}` });
    return body.state === state ? body : undefined;
  });
}

async function alarmOf(lab: ServiceLab, name: string): Promise<BuiltAlarm> {
  await untilState(lab, name, 'bad');
  const monitor = await until(TRACED_WITHIN_MS, async () => {
    const { body } = await lab.ask({ path: `/monitors/${name}` });
    return typeof body.parting === 'string' ? body : undefined;
  });
  const [tick, trace] = [await results(lab, firstBad(monitor.runs).checkId!), await results(lab, monitor.tracerouteId)];
  const starts = Object.values(trace.results as Readonly<Record<string, { readonly startedAt: string }>>);
  const last = Math.max(...starts.map(({ startedAt }) => Date.parse(startedAt)));
  return {
    traceDelayMs: last - Date.parse(tick.completedAt),
    sentence: monitor.parting,
    traced: Object.keys(trace.results).toSorted(),
  };
}

interface Run {
  readonly checkId: string | null;
  readonly results: Readonly<Record<string, { readonly state: string }>>;
}

/**
 * Oldest of the newest consecutive runs in which a probe failed. Runs after them may have no result: on a busy machine
 * an agent may not run a check in time.
 *
 * @param runs newest first
 */
function firstBad(runs: readonly Run[]): Run {
  const isBad = ({ results: of }: Run): boolean => Object.values(of).some(({ state }) => state === 'failing');
  const newest = runs.findIndex(isBad);
  const since = runs.findIndex((run, index) => index > newest && !isBad(run));
  return runs[(since === -1 ? runs.length : since) - 1]!;
}

async function results(lab: ServiceLab, id: string) {
  return (await lab.ask({ path: `/check/${id}/results?wait=25` })).body;
}

async function until<T>(withinMs: number, poll: () => Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const found = await poll();
    if (found !== undefined) return found;
    if (performance.now() > giveUpAt) throw new Error(`It did not come about within ${withinMs} ms.`);
    await sleep(LOOKS_EVERY_MS);
  }
}
