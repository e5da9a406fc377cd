import { createInterface } from 'node:readline';

import type { AnyCheckType, NameLookup, ParamsOf } from '../../packages/contract/src/index.ts';
import { checkTypes } from '../../packages/diagnostics/src/contract.ts';
import { createContext } from '../../packages/diagnostics/src/diagnostic.ts';
import { createPacketSockets, loadDiagnostic } from '../../packages/diagnostics/src/index.ts';
import { literalProbeContext } from '../../packages/test-support/src/index.ts';
import { createNameLookup, createNameResolver, isPrivateAddress } from '../../packages/target-policy/src/index.ts';
import { awakeClock } from '../../packages/timers/src/index.ts';

/** One line of standard input, JSON. */
export interface CheckOrder {
  readonly id: number;
  readonly type: 'ping' | 'traceroute';
  readonly host: string;
  readonly options: object;
  /** True to hide private addresses. */
  readonly hide: boolean;
  /** True if an address is private by its range; otherwise every address except the target's counts as private. */
  readonly privateByRange?: boolean;
  /** Name server to ask for the names of hops; null asks for none. */
  readonly nameServer: string | null;
  /** True to report partial results too. */
  readonly partials: boolean;
  /** True to report how many rounds of a trace are sent, while it runs. */
  readonly rounds?: boolean;
}

const BUSY_EVERY_MS = 20;
const STALL_MS = 1_000;
/** Factor of the time limits: results are tested here, not durations, and the machine may stall. */
const INDULGENCE = 3;

/** One line of standard output, JSON: more rounds of a trace are sent. */
export interface CheckProgress {
  readonly id: number;
  readonly rounds: number;
}

/** One line of standard output, JSON: the check has ended. */
export interface CheckOutcome {
  readonly id: number;
  readonly outcome: object;
  /** End of the check by CLOCK_MONOTONIC, which all processes of the machine share, milliseconds. */
  readonly endedMs: number;
  /** True if the probe stalled for a second or more meanwhile: packets under way may be left out of the outcome. */
  readonly hasStalled: boolean;
  /** Partial results, if wanted, with their times in milliseconds since the start. */
  readonly partials: readonly { readonly atMs: number; readonly fields: object }[];
}

/**
 * Runs checks in the namespace in which it is started: reads a request per line, writes an outcome per line, until
 * its input ends. The first argument is the share of time for which this process does other work.
 */
const busyShare = Number(process.argv[2] ?? 0);
if (busyShare > 0) setInterval(() => burn(busyShare * BUSY_EVERY_MS), BUSY_EVERY_MS).unref();
const packets = createPacketSockets();
/** The time of the last stall of this process. */
let stalledAtMs = -Infinity;
const clock = awakeClock((milliseconds) => {
  if (milliseconds >= STALL_MS) stalledAtMs = performance.now();
});
const running = new Set<Promise<void>>();
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as CheckOrder;
  const partials: CheckOutcome['partials'][number][] = [];
  const startedMs = performance.now();
  let sent = 0;
  const keep = (fields: { readonly rounds?: number }): void => {
    if (order.partials) partials.push({ atMs: performance.now() - startedMs, fields: structuredClone(fields) });
    const { rounds = 0 } = fields;
    if (order.rounds !== true || rounds <= sent) return;
    sent = rounds;
    write({ id: order.id, rounds } satisfies CheckProgress);
  };
  const check = run(order, keep).then((outcome) => {
    const endedMs = Number(process.hrtime.bigint()) / 1e6;
    clock.now();
    const isNoted = ['stalled', 'packetsLeftOut', 'roundsLeftOut'].some((field) => field in outcome);
    const hasStalled = isNoted || stalledAtMs >= startedMs;
    write({ id: order.id, outcome, endedMs, hasStalled, partials } satisfies CheckOutcome);
  });
  running.add(check);
}
await Promise.all(running);
clock.stop();
await packets.close();

async function run(
  { type, host, options, hide, privateByRange = false, nameServer }: CheckOrder,
  emitPartial: (fields: object) => void,
): Promise<object> {
  const checkType: AnyCheckType = checkTypes[type];
  const params = { host, options: { ...defaults(checkType), ...options } } as ParamsOf<AnyCheckType>;
  const budgetMs = INDULGENCE * checkType.budgetMs(params);
  // Inside a namespace every address is allowed: no packet leaves it.
  const probeContext = literalProbeContext({
    ...(nameServer === null ? {} : { names: lookUpAt(nameServer, !hide) }),
    packets,
    showPrivateAddresses: !hide,
    isPrivateAddress: (address) => (privateByRange ? isPrivateAddress(address) : address !== host),
  });
  const context = createContext(probeContext, { budgetMs, emitPartial });
  const diagnostic = await loadDiagnostic(type);
  return diagnostic.run(params, context);
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function burn(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

function lookUpAt(nameServer: string, showPrivateAddresses: boolean): NameLookup {
  return createNameLookup({ resolver: createNameResolver({ servers: [nameServer] }), showPrivateAddresses });
}

function defaults({ options }: AnyCheckType): object {
  const schemas = Object.entries(options as Record<string, { readonly default?: unknown }>);
  return Object.fromEntries(schemas.flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])));
}
