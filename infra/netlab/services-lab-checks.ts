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
  /** Of the type, such as `port`. */
  readonly fields?: object | undefined;
  /** All of them, those with a default too. */
  readonly options: object;
  /** True for a probe without its packet process. */
  readonly isBlind?: boolean;
}

/** One line of standard output, JSON. */
export interface LabOutcome {
  readonly id: number;
  readonly outcome: object;
}

/** Runs checks where it is started: orders come in as lines and outcomes go out as lines, until the input ends. */
const packets = createPacketSockets();
const receiveWindow = await loadReceiveWindow();
// As an agent does at its start: ICMP errors are read from then on.
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
  // What an answer is is tried here, not how soon: a machine that stands still now and then has its time as well.
  const budgetMs = 3 * checkType.budgetMs(params);
  // Inside a namespace every address is allowed: no packet leaves it.
  const probeContext = { ...literalProbeContext(isBlind ? {} : { packets }), receiveWindow };
  const context = createContext(probeContext, { budgetMs });
  return (await loadDiagnostic(type)).run(params, context);
}
