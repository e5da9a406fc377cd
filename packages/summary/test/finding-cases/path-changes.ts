import { summaryOf } from '../cases.ts';
import { seeded, type Random } from '@vantage/test-support/random/seeded';
import { trace } from '../results.ts';
import type { FindingCases } from './case.ts';

/**
 * Summary of a trace whose target was at these hops from these rounds on. The nearest of them also has the answers of a
 * router, in the order of the rounds; `received` of the packets to the last one were answered.
 */
export function moving(
  rounds: number,
  hops: readonly (readonly [hop: number, round: number])[],
  received?: number,
): ReturnType<typeof summaryOf> {
  const [first, last] = [Math.min(...hops.map(([hop]) => hop)), Math.max(...hops.map(([hop]) => hop))];
  const rtts = Array<number>(rounds).fill(5).join(' ');
  const ways = Array.from({ length: last }, (_, index) => {
    const router = index + 1 === last ? [] : [`192.0.2.${index + 1}`];
    return `${[...router, ...(index + 1 < first ? [] : ['203.0.113.1'])].join('/')} ${rtts}`;
  });
  const atFirst = Array.from({ length: rounds }, (_, index) =>
    hops.findLast(([, round]) => round <= index + 1)![0] === first ? 1 : 0,
  );
  const answers = ways.map((_, index) => (index + 1 === first ? atFirst : Array<number>(rounds).fill(0)));
  const targetHops = hops.map(([hop, round], index) => {
    const sent = (hops[index + 1]?.[1] ?? rounds + 1) - round;
    return { hop, round, sent, received: index === hops.length - 1 ? (received ?? sent) : sent };
  });
  const flow = { reached: true, stopReason: 'completed' as const, hops: answers };
  return summaryOf('traceroute', { 'fra-1': trace(ways, { rounds, targetHops, flows: [flow] }) });
}

const longer = [
  [3, 1],
  [5, 21],
] as const;
const shorter = [
  [5, 1],
  [3, 21],
] as const;

/** Summary of a trace with rounds. For each hop the routers that answered, round by round: `a`, `b` …; `*` for none. */
export function inRounds(...hops: readonly string[]): ReturnType<typeof summaryOf> {
  const rounds = Math.max(...hops.map(({ length }) => length));
  const names = hops.map((answers) => [...new Set(answers.replaceAll('*', ''))]);
  const path = hops.map((answers, index) => {
    const ips = names[index]!.map((name) => `192.0.2.${16 * (index + 1) + name.charCodeAt(0) - 97}`).join('/');
    return `${ips} ${Array.from(answers, (name) => (name === '*' ? '*' : index + 1)).join(' ')}`;
  });
  const traced = trace([...path, `203.0.113.1 ${Array<number>(rounds).fill(9).join(' ')}`], { rounds });
  const indexes = hops.map((answers, index) =>
    Array.from(answers, (name) => (name === '*' ? null : names[index]!.indexOf(name))),
  );
  const toTarget = Array<number>(rounds).fill(0);
  const flows = [{ reached: true, stopReason: 'completed' as const, hops: [...indexes, toTarget] }];
  return summaryOf('traceroute', { 'fra-1': { ...traced, flows } });
}

const all = 'a'.repeat(20);
const split = (after: number): string => 'a'.repeat(after) + 'b'.repeat(20 - after);

/**
 * Answers behind a per-packet balancer: for each round the letter of the router that answers. A `skew` above 1 makes it
 * prefer the first router.
 */
export function byChance(random: Random, routers: number, rounds: number, skew = 1): string {
  const name = (): string => String.fromCodePoint(97 + Math.floor(random() ** skew * routers));
  return Array.from({ length: rounds }, name).join('');
}

const oneHop = inRounds('a'.repeat(40), 'a'.repeat(20) + 'b'.repeat(20), 'a'.repeat(40));

export const pathChangeCases: FindingCases = {
  path_lengths: {
    present: [
      ['the target moved, in too few rounds to exclude chance', moving(24, shorter)],
      ['the target is at two hops in turns', moving(40, [...longer, [3, 30]])],
    ],
    absent: [
      ['the order of the answers proves a change', moving(40, shorter)],
      ['the target stayed where it was', inRounds('a'.repeat(20))],
    ],
  },
  hop_changed: {
    present: [
      ['one hop alone, in many rounds', oneHop],
      ['a hop between two others kept its address', inRounds(split(8), all, split(8))],
    ],
    absent: [
      ['two hops in a row', inRounds(all, split(8), split(8))],
      ['one hop, in too few rounds to exclude chance', inRounds(all, split(10))],
      ['the path became longer', moving(40, longer)],
      ['no router changed', inRounds(all, all)],
    ],
  },
  path_changed: {
    present: [
      ['two hops have other routers from one round on', inRounds(all, split(8), split(8))],
      ['the hops disagree by a round', inRounds(all, split(12), split(13))],
      ['answers are missing meanwhile', inRounds(all, 'aaaaaaaa***bbbbbbbbb', 'aaaaaaaaa**bbbbbbbbb')],
      ['the path became longer', moving(40, longer)],
      ['the path became shorter', moving(40, shorter)],
      ['with a silent hop in between', inRounds(split(8), '*'.repeat(20), split(8))],
    ],
    absent: [
      ['the target moved, in too few rounds to exclude chance', moving(24, shorter)],
      ['the target is at two hops in turns', moving(40, [...longer, [3, 30]])],
      ['no router changed', inRounds(all, all)],
      ['one hop alone, in many rounds', oneHop],
      ['a hop between two others kept its address', inRounds(split(8), all, split(8))],
      ['a router fell silent', inRounds(all, `${'a'.repeat(8)}${'*'.repeat(12)}`)],
      ['one hop, in too few rounds to exclude chance', inRounds(all, split(10))],
      ['the hops changed at different times', inRounds(all, split(6), split(13))],
      ['the last round alone', inRounds(all, split(19), split(19))],
      ['routers take turns', inRounds(all, 'ab'.repeat(10), 'ba'.repeat(10))],
      ['a balancer by packet', inRounds(all, byChance(seeded(1), 2, 20), byChance(seeded(2), 2, 20))],
    ],
  },
};
