import { isIPv6 } from 'node:net';

import type { AnyCheckType, ParamsOf } from '../../packages/contract/src/index.ts';
import { checkTypes } from '../../packages/diagnostics/src/contract.ts';
import type { DiagnosticContext } from '../../packages/diagnostics/src/diagnostic.ts';
import { createPacketSockets, loadDiagnostic } from '../../packages/diagnostics/src/index.ts';

/**
 * Runs one check where it is started, such as inside a namespace, and prints its outcome as JSON:
 *
 *   node --conditions=source run-check.ts <ping|traceroute> <host> '<options>' '<{ "hide": true, "names": {…} }>'
 */
const [type, host, options, setting] = process.argv.slice(2);
if ((type !== 'ping' && type !== 'traceroute') || host === undefined) throw new Error('Which check of which host?');
const { hide = false, names = {} } = JSON.parse(setting ?? '{}') as {
  hide?: boolean;
  names?: Readonly<Record<string, string>>;
};

const checkType: AnyCheckType = checkTypes[type];
const defaults = Object.entries(checkType.options as Record<string, { default?: unknown }>).flatMap(([name, schema]) =>
  schema.default === undefined ? [] : [[name, schema.default] as const],
);
const params = {
  host,
  options: { ...Object.fromEntries(defaults), ...(JSON.parse(options ?? '{}') as object) },
} as ParamsOf<AnyCheckType>;

const started = performance.now();
const budgetMs = checkType.budgetMs(params);
const remainingMs = (): number => budgetMs - (performance.now() - started);
const packets = createPacketSockets();
const partials: unknown[] = [];
const context: DiagnosticContext = {
  signal: AbortSignal.timeout(budgetMs),
  remainingMs,
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
  emitPartial: (fields) => partials.push(fields),
};
const diagnostic = await loadDiagnostic(type);
await packets.probePrivilege();
const outcome = await diagnostic.run(params, context);
await packets.close();
process.stdout.write(`${JSON.stringify({ outcome, partials })}\n`);
