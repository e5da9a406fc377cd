import { bad, each, summaryOf } from '../cases.ts';
import { redirectOf } from '../redirect.ts';
import { http } from '../results.ts';

const [one, two, six, other] = ['203.0.113.1', '203.0.113.2', '2001:db8::1', '198.51.100.9'] as const;
const at = 'http://example.com/';
/** Redirects from `example.com` at an address to a host `www`. */
const from = (resolvedIp: string) => [redirectOf(at, { location: 'https://www.example.com/', resolvedIp })];
const led = (resolvedIp: string, first: string = one) =>
  http(200, { url: 'https://www.example.com/', resolvedIp, redirects: from(first) });
const deadAt = (resolvedIp: string, url: string = at) => bad('timed_out', { url, resolvedIp });
const ledToDead = (resolvedIp: string) => ({ ...deadAt(resolvedIp, 'https://www.example.com/'), redirects: from(one) });
const dead = { address: two, error: 'timed_out' as const, time: 4_000 };
const afterDead = http(200, { deadAddresses: [dead] });

/** Http checks that followed redirects: the failure is that of the last request, and others asked in each. */
export const ledCases = {
  ofOneAddress: {
    present: [
      [
        'it is one of two to which they were redirected',
        summaryOf('http', { ...each('fra-1 nyc-1', ledToDead(two)), ...each('ber-1 lax-1', led(other)) }),
      ],
    ],
    absent: [
      [
        'it redirected the others',
        summaryOf('http', { ...each('fra-1 nyc-1', deadAt(one)), ...each('ber-1 lax-1 lon-1', led(other)) }),
      ],
    ],
  },
  ofOneFamily: {
    present: [
      [
        'those that were redirected to IPv4 fail',
        summaryOf('http', { ...each('fra-1 nyc-1', ledToDead(two)), ...each('ber-1 lax-1', led(six)) }),
      ],
    ],
    absent: [
      [
        'the others were redirected over it',
        summaryOf('http', { ...each('fra-1 nyc-1', deadAt(one)), ...each('ber-1 lax-1', led(six)) }),
      ],
      [
        'they fail at two hosts',
        summaryOf('http', {
          'fra-1': deadAt(six),
          'nyc-1': ledToDead(six),
          ...each('ber-1 lax-1', led(other)),
        }),
      ],
    ],
  },
  ofTwoFamilies: {
    present: [['they were redirected to it', summaryOf('http', { 'fra-1': led(two), 'ber-1': led(six) })]],
    absent: [
      ['one was redirected over both', summaryOf('http', { 'fra-1': http(200, { url: at }), 'ber-1': led(six) })],
    ],
  },
  ofDeadAddress: {
    present: [
      [
        'the others were redirected by another port of it',
        summaryOf('http', { ...each('fra-1 nyc-1 ber-1', { ...afterDead, redirects: from(two) }) }),
      ],
    ],
  },
} as const;
