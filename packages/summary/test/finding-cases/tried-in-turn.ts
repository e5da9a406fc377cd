import { bad, each, summaryOf } from '../cases.ts';
import { http } from '../results.ts';

const [one, two, six] = ['203.0.113.1', '203.0.113.2', '2001:db8::1'] as const;
const dead = (address: string) => ({ address, error: 'timed_out' as const, time: 4_000 });
const bothDead = bad('timed_out', { deadAddresses: [dead(one), dead(two)] });
const bothFamiliesDead = bad('timed_out', { deadAddresses: [dead(one), dead(six)] });
const firstDead = http(200, { resolvedIp: two, deadAddresses: [dead(one)] });

/** Http checks that tried several addresses: no address and no family distinguishes the probes that fail. */
export const triedInTurn = {
  ofOneAddress: [
    [
      'the others asked it too, before the address that answers them (http)',
      summaryOf('http', { ...each('fra-1 nyc-1', bothDead), ...each('ber-1 lax-1', firstDead) }),
    ],
    [
      'those that fail asked the address that answers the others too (http)',
      summaryOf('http', { ...each('fra-1 nyc-1', bothDead), ...each('ber-1 lax-1', http(200, { resolvedIp: two })) }),
    ],
  ],
  ofOneFamily: [
    [
      'those that fail tried both families (http)',
      summaryOf('http', {
        ...each('fra-1 nyc-1', bothFamiliesDead),
        ...each('ber-1 lax-1', http(200, { resolvedIp: six })),
      }),
    ],
  ],
} as const;
