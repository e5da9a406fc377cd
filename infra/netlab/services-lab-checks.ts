import { isIPv6 } from 'node:net';
import { createInterface } from 'node:readline';

import type { AnyCheckType, ParamsOf } from '../../packages/contract/src/index.ts';
import { checkTypes } from '../../packages/diagnostics/src/contract.ts';
import type { DiagnosticContext } from '../../packages/diagnostics/src/diagnostic.ts';
import { createPacketSockets, loadDiagnostic } from '../../packages/diagnostics/src/index.ts';

/** One line of standard input, JSON. */
export interface PortOrder {
  readonly id: number;
  readonly type: 'tcp' | 'udp';
  readonly host: string;
  readonly port: number;
  readonly attempts: number;
}

/** One line of standard output, JSON. */
export interface PortOutcome {
  readonly id: number;
  readonly outcome: object;
}

/** Runs checks of ports where it is started: orders come in as lines and outcomes go out as lines, until the input ends. */
const packets = createPacketSockets();
const running = new Set<Promise<void>>();
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as PortOrder;
  const check = run(order).then((outcome) => {
    process.stdout.write(`${JSON.stringify({ id: order.id, outcome } satisfies PortOutcome)}\n`);
  });
  running.add(check);
}
await Promise.all(running);
await packets.close();

async function run({ type, host, port, attempts }: PortOrder): Promise<object> {
  const checkType: AnyCheckType = checkTypes[type];
  const params = { host, port, options: { attempts } } as ParamsOf<AnyCheckType>;
  // What an answer is is tried here, not how soon: a machine that stands still now and then has its time as well.
  const budgetMs = 3 * checkType.budgetMs(params);
  const started = performance.now();
  const context: DiagnosticContext = {
    signal: AbortSignal.timeout(budgetMs),
    remainingMs: () => budgetMs - (performance.now() - started),
    // Inside a namespace every address is allowed: no packet leaves it.
    admit: async () => {
      const target = { host, address: host, family: isIPv6(host) ? (6 as const) : (4 as const), addresses: [host] };
      return { admitted: true, target: { ...target, resolveMs: 0 } };
    },
    names: { reverse: async () => [], forward: async () => [] },
    resolvers: [],
    packets,
    showPrivateAddresses: true,
    isPrivateAddress: () => false,
    attribution: { userAgent: 'Vantage/0 (netlab)', payloadTag: 'vantage-netlab' },
    emitPartial: () => undefined,
  };
  return (await loadDiagnostic(type)).run(params, context);
}
