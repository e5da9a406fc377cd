import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startCheckRunner } from '../../../netlab/check-runner.ts';
import type { Traceroute } from '../../../netlab/test-lab.ts';
import { PROBES } from '../../../simulator/addresses.ts';
import { caseOf, type Case } from '../../../simulator/compile.ts';
import { createInternet, type Internet } from '../../../simulator/internet.ts';
import { readLog } from '../../../simulator/log.ts';
import type { Figure } from '../../goals.ts';
import { order } from '../../packets/round-trips.ts';
import { figuresOfAll, figuresOfKind, TOOLS, type SearchRun, type Tool } from './figures.ts';
import { scamperLinks } from './scamper.ts';
import { kinds, shapes, type Shape } from './shapes.ts';
import { truthOf, type Links } from './truth.ts';

/** Number of networks per shape and tool; each is measured by four probes. */
const NETWORKS = 10;
/** Concurrent checks of one probe. */
const AT_ONCE = 12;
/**
 * Size in bytes from which a packet counts as part of the search for the path MTU, and not of that for paths: scamper
 * has a separate command for the former.
 */
const LARGE_BYTES = 200;
type Found = ReadonlyMap<string, Links>;

/** `flows: "all"` and scamper’s `tracelb` over networks of the same shapes: links found, links invented, packets. */
export async function findsAllPaths(scamper: string): Promise<readonly Figure[]> {
  const plans = shapes.flatMap((shape) =>
    TOOLS.flatMap((tool) => Array.from({ length: NETWORKS }, () => ({ shape, tool }))),
  );
  const cases = plans.map(({ shape, tool }, number) => ({ shape, tool, of: caseOf(shape, number, 4, 'icmp') }));
  const runs = await runAll(cases, scamper);
  return [...figuresOfAll(runs), ...kinds.flatMap((kind) => figuresOfKind(kind, runs))];
}

async function runAll(
  cases: readonly { readonly shape: Shape; readonly tool: Tool; readonly of: Case }[],
  scamper: string,
): Promise<readonly SearchRun[]> {
  const folder = await mkdtemp(join(tmpdir(), 'vantage-paths-'));
  const logFile = join(folder, 'packets.jsonl');
  const internet = await createInternet(
    cases.map(({ of }) => of),
    1,
    logFile,
  );
  try {
    const targets = (tool: Tool): string[] => cases.flatMap((one) => (one.tool === tool ? [one.of.address] : []));
    const found = await Promise.all(
      PROBES.map(async (_, probe) => {
        const theirs = await scamperLinks(internet, scamper, probe, targets('scamper'), 95);
        const surer = await scamperLinks(internet, scamper, probe, targets('scamper -c 99'), 99);
        return new Map([...theirs, ...surer, ...(await ownLinks(internet, probe, targets('ours')))]);
      }),
    );
    await internet.stop();
    const passages = await readLog(logFile);
    return cases.flatMap(({ shape, tool, of }) =>
      PROBES.map((_, probe) => {
        const sent = passages.get(`${of.number}/${probe}`) ?? [];
        const packets = sent.filter(({ bytes }) => bytes < LARGE_BYTES).length;
        const links = found[probe]!.get(of.address) ?? new Set<string>();
        return { shape, tool, packets, links, truth: truthOf(of, probe) };
      }),
    );
  } finally {
    internet.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function ownLinks(internet: Internet, probe: number, targets: readonly string[]): Promise<Found> {
  const runner = startCheckRunner({ start: (_node, program, ...args) => internet.start(probe, program, ...args) });
  const found = new Map<string, Links>();
  const queue = targets.values();
  const worker = async (): Promise<void> => {
    for (const host of queue) {
      const { outcome } = await runner.run({
        ...order('traceroute', host, { flows: 'all', family: 4 }),
        privateByRange: true,
      });
      found.set(host, linksOf(outcome as Traceroute));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await runner.stop();
  return found;
}

function linksOf({ multipath }: Traceroute): Links {
  if (multipath === undefined) throw new Error('A trace of all flows has no `multipath`.');
  const { nodes, links } = multipath;
  return new Set(links.flatMap(({ from, to }) => (from === null ? [] : [`${nodes[from]!.ip} ${nodes[to]!.ip}`])));
}
