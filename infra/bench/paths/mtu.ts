import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { startCheckRunner } from '../../netlab/check-runner.ts';
import type { Traceroute } from '../../netlab/test-lab.ts';
import { PROBES } from '../../simulator/addresses.ts';
import { caseOf, type Case } from '../../simulator/compile.ts';
import { createInternet, type Internet } from '../../simulator/internet.ts';
import { router, routers } from '../../simulator/scenario.ts';
import type { Figure } from '../goals.ts';
import type { Peers } from '../packets/peers.ts';
import { order } from '../packets/round-trips.ts';

/** MTUs of the links, nearest first; each path is measured by four probes over both families. */
const PATHS = [[1_500], [1_400], [1_492, 1_420], [1_480, 1_400, 1_280], [1_300]] as const;
const FAMILIES = [4, 6] as const;

type See = (internet: Internet, probe: number, host: string) => Promise<number | null>;

/** The path MTU of `traceroute` checks compared with tools that measure it, on known paths. */
export async function agreesOnMtu(peers: Peers): Promise<readonly Figure[]> {
  const cases = FAMILIES.flatMap((family, side) =>
    PATHS.map((mtus, index) => {
      const path = [router(), ...mtus.map((mtu) => router({ mtu })), ...routers(2)];
      return caseOf({ name: mtus.join(' '), path }, side * PATHS.length + index, family, 'udp');
    }),
  );
  const folder = await mkdtemp(join(tmpdir(), 'vantage-mtu-'));
  const internet = await createInternet(cases, 1, join(folder, 'packets.jsonl'));
  try {
    const runs = PROBES.flatMap((_, probe) => cases.map((of) => ({ probe, of })));
    const wrongOf = async (see: See): Promise<number> => {
      const seen = await Promise.all(PROBES.map((_, probe) => inTurn(cases, (of) => see(internet, probe, of.address))));
      return runs.filter(({ probe, of }) => seen[probe]![cases.indexOf(of)] !== smallestMtu(of)).length;
    };
    const ours = openOurs(internet);
    const value = await wrongOf(ours.see);
    await ours.stop();
    const others = await Promise.all([...tools(peers).values()].map(wrongOf));
    const comparison = [...tools(peers).keys()].map((name, index) => `${name} ${others[index]}`).join(', ');
    return [{ name: 'path MTU missed or wrong', value, unit: `of ${runs.length}`, atMost: 0, comparison }];
  } finally {
    internet.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function inTurn(
  cases: readonly Case[],
  see: (of: Case) => Promise<number | null>,
): Promise<readonly (number | null)[]> {
  const seen: (number | null)[] = [];
  for (const of of cases) seen.push(await see(of));
  return seen;
}

function smallestMtu({ places }: Case): number {
  return Math.min(1_500, ...places.flatMap(({ mtu = 1_500 }) => mtu));
}

/** Runs our checks in one process per probe. */
function openOurs(internet: Internet): { readonly see: See; readonly stop: () => Promise<unknown> } {
  const runners = PROBES.map((_, probe) =>
    startCheckRunner({ start: (_node, program, ...args) => internet.start(probe, program, ...args) }),
  );
  const see: See = async (_internet, probe, host) => {
    const options = { family: host.includes(':') ? 6 : 4, protocol: 'udp' };
    const { outcome } = await runners[probe]!.run({ ...order('traceroute', host, options), privateByRange: true });
    return (outcome as Traceroute).pathMtu ?? null;
  };
  return { see, stop: () => Promise.all(runners.map((runner) => runner.stop())) };
}

/** Other tools that discover a path MTU. They print each MTU on the way; the last one is that of the path. */
function tools(peers: Peers): ReadonlyMap<string, See> {
  const [traceroute, tracepath] = [peers.path('traceroute'), peers.path('tracepath')];
  const see =
    (pattern: RegExp, program: string, ...args: readonly string[]): See =>
    async (internet, probe, host) => {
      const child = internet.start(probe, program, ...args, host);
      child.stdin!.end();
      const found = [...(await text(child.stdout!)).matchAll(pattern)].at(-1);
      return found === undefined ? null : Number(found[1]);
    };
  return new Map([
    ...(traceroute ? [['traceroute --mtu', see(/F=(\d+)/g, traceroute, '-n', '--mtu', '-m', '12')] as const] : []),
    ...(tracepath ? [['tracepath', see(/pmtu (\d+)/g, tracepath, '-n', '-m', '12')] as const] : []),
  ]);
}
