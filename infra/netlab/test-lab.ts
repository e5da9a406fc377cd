import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { ping } from '../../packages/diagnostics/src/types/ping/contract.ts';
import type { traceroute } from '../../packages/diagnostics/src/types/traceroute/contract.ts';
import type { Outcome } from '../../packages/diagnostics/src/diagnostic.ts';
import { startCheckRunner } from './check-runner.ts';
import { NAME_SERVER } from './names.ts';
import { createNetlab, type Netlab } from './netlab.ts';
import type { CheckOutcome } from './run-check.ts';
import { ipv4, ipv6 } from './topology.ts';

export type Ping = Outcome<typeof ping>;
export type Traceroute = Outcome<typeof traceroute>;

export interface Manner {
  /** Masks every address but the target's. */
  readonly hide?: boolean;
  /** Asks the lab's name server for the names of hops. */
  readonly named?: boolean;
  /** Called while a trace runs, with the number of rounds that are sent. */
  readonly onRounds?: (rounds: number) => void;
}

/** A lab, and checks that run on its probe. */
export interface TestLab extends Netlab {
  readonly ping: (host: string, options?: object, manner?: Manner) => Promise<Ping>;
  readonly trace: (host: string, options?: object, manner?: Manner) => Promise<Traceroute>;
  /** The partial results of a trace, in order. */
  readonly traceStates: (host: string, options?: object) => Promise<readonly Partial<Traceroute>[]>;
  readonly close: () => Promise<void>;
}

export const families = [
  { family: 4, address: ipv4 },
  { family: 6, address: ipv6 },
] as const;

/**
 * A check is repeated up to this often if the probe stalled: it leaves out then what was under way and lost, so that its
 * result does not have all that happened.
 */
const MOST_RUNS = 6;

export async function openTestLab(): Promise<TestLab> {
  const lab = await createNetlab();
  const server = fileURLToPath(new URL('name-server.ts', import.meta.url));
  const names = lab.start('r1', process.execPath, '--conditions=vantage-source', server);
  await once(names.stdout!, 'data');
  const runner = startCheckRunner(lab);
  const check = (
    type: 'ping' | 'traceroute',
    host: string,
    options: object = {},
    { hide = false, named = false, partials = false, onRounds }: Manner & { readonly partials?: boolean } = {},
  ): Promise<Omit<CheckOutcome, 'id'>> =>
    runner.run({ type, host, options, hide, partials, nameServer: named ? NAME_SERVER : null }, onRounds);
  const whole = async (...order: Parameters<typeof check>): Promise<object> => {
    // A test acts during a check whose rounds it follows: that one cannot be repeated.
    const isFollowed = order[3]?.onRounds !== undefined;
    for (let left = MOST_RUNS; ; left -= 1) {
      const { outcome, hasStalled } = await check(...order);
      if (!hasStalled || isFollowed || left === 1) return outcome;
    }
  };
  return {
    ...lab,
    ping: async (...order) => (await whole('ping', ...order)) as Ping,
    trace: async (...order) => (await whole('traceroute', ...order)) as Traceroute,
    traceStates: async (host, options) => {
      const { partials } = await check('traceroute', host, options, { partials: true });
      return partials.map(({ fields }) => fields as Partial<Traceroute>);
    },
    close: async () => {
      await runner.stop();
      names.stdin!.end();
      await once(names, 'exit');
      lab.remove();
    },
  };
}
