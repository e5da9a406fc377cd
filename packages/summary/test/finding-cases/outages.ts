import { summaryOf, type Result } from '../cases.ts';
import { trace } from '../results.ts';
import type { FindingCases } from './case.ts';
import { circling, inRows } from './onward.ts';

/**
 * Summary of a trace with rounds. A character per round says what became of the packet to each router and the target:
 * `.` answered, `*` lost, `!` refused by the second router, `h` refused by it at its own hop.
 */
export function untilEnd(
  first: string,
  second: string,
  target: string,
  agent: 'new' | 'old' = 'new',
): ReturnType<typeof summaryOf> {
  return summaryOf('traceroute', { 'fra-1': resultUntilEnd(first, second, target, agent) });
}

/** Summary of traces of which that of `fra-1` alone lost packets, all to the target. */
export function untilEndOfOne(target: string, probes: number): ReturnType<typeof summaryOf> {
  const [all, others] = ['.'.repeat(target.length), Array.from({ length: probes - 1 }, (_, index) => `ber-${index}`)];
  return summaryOf('traceroute', {
    'fra-1': resultUntilEnd(all, all, target, 'new'),
    ...Object.fromEntries(others.map((probe) => [probe, resultUntilEnd(all, all, all, 'new')])),
  });
}

export function resultUntilEnd(
  first: string,
  second: string,
  target: string,
  agent: 'new' | 'old',
): Result<'traceroute'> {
  const rounds = target.length;
  const rows = [first, second, target].map((answers, index) => {
    const ip = ['198.51.100.1', '192.0.2.1', '203.0.113.1'][index]!;
    const isRefused = /[!h]/.test(answers);
    const rtts = Array.from(answers, (one) => (one === '*' || (one === '!' && agent === 'new') ? '*' : 5));
    const row = trace([`${ip} ${rtts.join(' ')}`]).hops![0]!;
    const refuser = { ...row.responders[0]!, ip: '192.0.2.1' };
    const icmp = { type: 3, code: 1, mark: '!H', from: '192.0.2.1', count: answers.replaceAll(/[^!h]/g, '').length };
    const replies = [
      { responder: 0, ttl: 60 },
      { responder: index === 1 ? 0 : null, ttl: 60, type: 3, code: 1 },
    ];
    return {
      ...row,
      hop: index + 1,
      responders: agent === 'old' && answers.includes('!') ? [...row.responders, refuser] : row.responders,
      packets: Array.from(answers, (one) => (one === '*' ? null : one === '.' ? 0 : 1)),
      replies,
      icmp: isRefused ? icmp : null,
    };
  });
  const indexOf = (one: string): number | null => (one === '*' ? null : one !== '!' ? 0 : agent === 'old' ? 1 : null);
  const hops = [first, second, target].map((answers) => Array.from(answers, indexOf));
  const flows: NonNullable<Result<'traceroute'>['flows']> = [{ reached: true, stopReason: 'completed', hops }];
  const fullTtl = target.startsWith('*') ? { rtts: [null, null, null, null, null, null], icmp: null } : null;
  return { ...trace(['203.0.113.1 5']), hops: rows, flows, rounds, stopReason: 'completed', fullTtl };
}

const kept = '............';

const long = '.'.repeat(30);
const pause = `${'.'.repeat(10)}*******${'.'.repeat(13)}`;

const lateTarget = `${'*'.repeat(12)}${'.'.repeat(18)}`;

export const outageCases: FindingCases = {
  target_pauses: {
    present: [
      ['the target alone is silent', untilEnd(kept, kept, '.....*****..')],
      ['so is the router before it', untilEnd(long, pause, pause)],
      ['it is silent at first', untilEnd(long, long, lateTarget)],
      ['one packet is lost long before', untilEnd(long, long, `..*${pause.slice(3)}`)],
    ],
    absent: [
      ['it does not come back', untilEnd(kept, kept, '.....*******')],
      ['a router refused the packets', untilEnd(long, long, pause.replaceAll('*', '!'))],
      ['loss without order', untilEnd(long, long, '.*..*.*...*..*..*....*.*..*..*')],
      ['it is silent again and again', untilEnd(long, long, '...****....****...****...****.')],
      [
        'it answers the full TTL at first',
        summaryOf('traceroute', {
          'fra-1': { ...resultUntilEnd(long, long, lateTarget, 'new'), fullTtl: { rtts: [null, 9], icmp: null } },
        }),
      ],
      ['its first packets are lost by chance', untilEnd(long, long, `**${'.'.repeat(28)}`)],
      ['two packets are lost', untilEnd(long, long, `${'.'.repeat(20)}**${'.'.repeat(8)}`)],
      [
        'the many packets of the first round may have used up its limit',
        untilEnd(long, long, `.****${'.'.repeat(25)}`),
      ],
    ],
  },
  target_stops: {
    present: [
      ['a router refuses the last packets', untilEnd(kept, kept, '.....!!!!!!!')],
      ['a router refuses the last two', untilEnd(kept, kept, '..........!!')],
      ['an older agent takes refusals for answers', untilEnd(kept, kept, '.....!!!!!!!', 'old')],
      ['a router limits its errors', untilEnd(kept, '.....h***h**', '.....*******')],
      ['nothing comes back', untilEnd(kept, kept, '.....*******')],
      ['nothing comes back from the last router either', untilEnd(kept, '.....*******', '.....*******')],
      ['the last of many rounds', untilEnd('.'.repeat(40), '.'.repeat(40), `${'.'.repeat(37)}***`)],
      ['the first round alone was answered', untilEnd(kept, kept, '.***********')],
      ['a longer path leads nowhere', inRows('a'.repeat(12), 'TTTTTbbbbbbb', '******', '*****', '****')],
    ],
    absent: [
      ['a longer path leads to it', inRows('a'.repeat(12), 'TTTTTbbbbbbb', 'cccccc', 'TTTTT')],
      ['a longer path is followed, one hop farther each round', inRows('a'.repeat(12), 'TTTTTTTTTbbb', 'cc', 'd')],
      ['packets go round in a circle', circling],
      ['the target came back', untilEnd(kept, kept, '.....!!!!!..')],
      ['the last packet is refused', untilEnd(kept, kept, '...........!')],
      ['two packets are lost', untilEnd(kept, kept, '..........**')],
      ['a few lost packets are the last by chance', untilEnd('......', '......', '....**')],
      ['packets were lost as long before', untilEnd('.'.repeat(20), '.'.repeat(20), '......****.****.****')],
      ['a router refused others before', untilEnd(kept, kept, '..!!......**')],
    ],
  },
};
