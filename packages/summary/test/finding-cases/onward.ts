import { summaryOf } from '../cases.ts';
import { trace } from '../results.ts';

/**
 * Summary of a trace with rounds whose path goes on where the target was. A row per hop has an answer per round: `T` of
 * the target, another letter of the router 192.0.2.x with its number in the alphabet, `*` none. Rows may be shorter than
 * the rounds, as those of hops that were asked later.
 */
export function inRows(...rows: readonly string[]): ReturnType<typeof summaryOf> {
  const rounds = Math.max(...rows.map(({ length }) => length));
  const names = rows.map((row) => [...new Set(row.replaceAll('*', ''))]);
  const ipOf = (name: string): string => (name === 'T' ? '203.0.113.1' : `192.0.2.${name.charCodeAt(0) - 96}`);
  const path = rows.map((row, index) => {
    const ips = names[index]!.map(ipOf).join('/');
    return `${ips === '' ? '*' : ips} ${Array.from(row, (name) => (name === '*' ? '*' : index + 1)).join(' ')}`;
  });
  const hops = rows.map((row, index) => Array.from(row, (name) => (name === '*' ? null : names[index]!.indexOf(name))));
  const flows = [{ reached: true, stopReason: 'completed' as const, hops }];
  const result = trace([...path, '203.0.113.1 5'], { rounds, flows });
  return summaryOf('traceroute', { 'fra-1': { ...result, hops: result.hops!.slice(0, -1) } });
}

const [a, b, c] = ['a', 'b', 'c'].map((name) => name.repeat(12)) as [string, string, string];

export const circling = inRows(a, b, c, 'TTTTTbbbbbbb', 'ccccccc', 'bbbbbb');
export const circledOnce = inRows(a, b, c, 'TTTTTbbbbTTT', 'ccccT', 'bbbT');

export const lone = inRows(a, b, c, 'TTTTTccccccc', 'ccccccc', 'cccccc', 'ccccc', 'cccc');

export const circlesOfRounds = {
  present: [
    ['packets circle from a round on', circling],
    ['packets circle for some rounds', circledOnce],
    ['one router answers for all hops from a round on', lone],
  ],
  absent: [
    ['the target is farther from a round on', inRows(a, b, c, 'TTTTTddddddd', 'eeeeeee', 'TTTTTT')],
    [
      'one router answers for three hops beyond its own',
      inRows(a, b, c, 'TTTTTccccccc', 'ccccccc', 'cccccc', 'ddddd', 'TTTT'),
    ],
    ['one router answers twice', inRows(a, b, c, 'TTTTTccccccc', 'ddddddd', 'TTTTTT')],
    [
      'the same routers are two hops farther for some rounds',
      inRows(a, 'bbbbbddddbbb', 'cccccecccccc', 'TTTTTbbbbTTT', 'ccccT', 'TTTT'),
    ],
  ],
} as const;
