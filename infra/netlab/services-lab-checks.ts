import { createInterface } from 'node:readline';

import type { AnyCheckType, ParamsOf } from '../../packages/contract/src/index.ts';
import { checkTypes, type CheckTypeName } from '../../packages/diagnostics/src/contract.ts';
import { createContext } from '../../packages/diagnostics/src/diagnostic.ts';
import { createPacketSockets, loadDiagnostic, loadReceiveWindow } from '../../packages/diagnostics/src/index.ts';
import { literalProbeContext } from '../../packages/test-support/src/index.ts';

/** One line of standard input, JSON. */
export interface LabOrder {
  readonly id: number;
  readonly type: CheckTypeName;
  readonly host: string;
  /** Fields of the check type, such as `port`. */
  readonly fields?: object | undefined;
  /** All options, including those that have a default. */
  readonly options: object;
  /** True for a probe without its packet process. */
  readonly isBlind?: boolean;
}

/** One line of standard output, JSON. */
export interface LabOutcome {
  readonly id: number;
  readonly outcome: object;
}

/**
 * Runs checks in the namespace in which it is started: reads a request per line, writes an outcome per line, until its
 * input ends.
 */
const packets = createPacketSockets();
const receiveWindow = await loadReceiveWindow();
// As agents do at their start: from then on the packet process receives ICMP errors, and checks can recall earlier
// ones.
await packets.probePrivilege();
const running = new Set<Promise<void>>();
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as LabOrder;
  const check = run(order).then((outcome) => {
    process.stdout.write(`${JSON.stringify({ id: order.id, outcome } satisfies LabOutcome)}\n`);
  });
  running.add(check);
}
await Promise.all(running);
await packets.close();

async function run({ type, host, fields = {}, options, isBlind = false }: LabOrder): Promise<object> {
  const checkType: AnyCheckType = checkTypes[type];
  const params = { host, ...fields, options } as ParamsOf<AnyCheckType>;
  // Three times the usual budget: results are tested here, not durations, and the machine may stall.
  const budgetMs = 3 * checkType.budgetMs(params);
  // Inside a namespace every address is allowed: no packet leaves it.
  const probeContext = { ...literalProbeContext(isBlind ? {} : { packets }), receiveWindow };
  const context = createContext(probeContext, { budgetMs });
  return (await loadDiagnostic(type)).run(params, context);
}
