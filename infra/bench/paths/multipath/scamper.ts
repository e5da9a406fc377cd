import { text } from 'node:stream/consumers';

import type { Internet } from '../../../simulator/internet.ts';
import type { Links } from './truth.ts';

/** Permitted packets per second, more than scamper can send: the delays of the paths are the limit. */
const PACKETS_A_SECOND = 1_000;
/** Interval between two packets to one target, hundredths of a second: the minimum of scamper. */
const LEAST_WAIT = 15;

/** Confidence of scamper's stopping points, percent: the default, and the only other value that it knows. */
export type Confidence = 95 | 99;

/** The links that Debian’s `scamper` finds from one probe by `tracelb`, by target. */
export async function scamperLinks(
  internet: Internet,
  program: string,
  probe: number,
  targets: readonly string[],
  confidence: Confidence,
): Promise<ReadonlyMap<string, Links>> {
  const method = ['-O', 'json', '-c', `tracelb -P ICMP-echo -c ${confidence} -W ${LEAST_WAIT}`];
  const command = ['-p', String(PACKETS_A_SECOND), ...method, '-i', ...targets];
  const child = internet.start(probe, program, ...command);
  child.stdin!.end();
  return readTracelb(await text(child.stdout!));
}

interface Node {
  readonly addr?: string;
}

interface Traced {
  readonly type: string;
  readonly dst: string;
  readonly nodes?: readonly (Node & { readonly links?: readonly (readonly Node[])[] })[];
}

/** Reads one JSON object a line. */
function readTracelb(printed: string): ReadonlyMap<string, Links> {
  const objects = printed.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Traced]));
  const traces = objects.filter(({ type }) => type === 'tracelb');
  return new Map(traces.map(({ dst, nodes = [] }) => [dst, new Set(nodes.flatMap(linksFrom))]));
}

/**
 * Links to the successors of a node, hop by hop. Between hops with several nodes, scamper does not report which node
 * leads to which.
 */
function linksFrom({ addr, links = [] }: NonNullable<Traced['nodes']>[number]): readonly string[] {
  return [[{ addr }], ...links].slice(0, -1).flatMap((here, at) => {
    const beyond = links[at]!;
    if (here.length > 1 && beyond.length > 1) return [];
    return here.flatMap((from) => beyond.map((to) => `${from.addr} ${to.addr}`));
  });
}
