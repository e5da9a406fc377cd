import { isIPv6 } from 'node:net';
import { createInterface } from 'node:readline';

import type { AnyCheckType, ParamsOf } from '../../packages/contract/src/index.ts';
import { checkTypes } from '../../packages/diagnostics/src/contract.ts';
import type { DiagnosticContext } from '../../packages/diagnostics/src/diagnostic.ts';
import { createPacketSockets, loadDiagnostic } from '../../packages/diagnostics/src/index.ts';

/** One line of standard input, JSON. */
export interface CheckOrder {
  readonly id: number;
  readonly type: 'ping' | 'traceroute';
  readonly host: string;
  readonly options: object;
  /** Masks every address but the target's. */
  readonly hide: boolean;
  /** PTR names by address. */
  readonly names: Readonly<Record<string, string>>;
}

/** One line of standard output, JSON. */
export interface CheckOutcome {
  readonly id: number;
  readonly outcome: object;
}

/**
 * Runs checks where it is started, such as inside a namespace: orders come in as lines and outcomes go out as lines, until
 * the input ends.
 */
const packets = createPacketSockets();
const running = new Set<Promise<void>>();
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as CheckOrder;
  const check = run(order).then((outcome) => {
    process.stdout.write(`${JSON.stringify({ id: order.id, outcome } satisfies CheckOutcome)}\n`);
  });
  running.add(check);
}
await Promise.all(running);
await packets.close();

async function run({ type, host, options, hide, names }: CheckOrder): Promise<object> {
  const checkType: AnyCheckType = checkTypes[type];
  const params = { host, options: { ...defaults(checkType), ...options } } as ParamsOf<AnyCheckType>;
  const budgetMs = checkType.budgetMs(params);
  const started = performance.now();
  const context: DiagnosticContext = {
    signal: AbortSignal.timeout(budgetMs),
    remainingMs: () => budgetMs - (performance.now() - started),
    // Inside a namespace every address is allowed: no packet leaves it.
    admit: async () => {
      const target = { host, address: host, family: isIPv6(host) ? (6 as const) : (4 as const), addresses: [host] };
      return { admitted: true, target: { ...target, resolveMs: 0 } };
    },
    names: {
      reverse: async (address) => (names[address] === undefined ? [] : [names[address]]),
      forward: async () => [],
    },
    resolvers: [],
    packets,
    showPrivateAddresses: !hide,
    isPrivateAddress: (address) => address !== host,
    attribution: { userAgent: 'Vantage/0 (netlab)', payloadTag: 'vantage-netlab' },
    emitPartial: () => undefined,
  };
  const diagnostic = await loadDiagnostic(type);
  return diagnostic.run(params, context);
}

function defaults({ options }: AnyCheckType): object {
  const schemas = Object.entries(options as Record<string, { readonly default?: unknown }>);
  return Object.fromEntries(schemas.flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])));
}
