import { describe, expect, it } from '@jest/globals';

import { replyTexts } from './reply-texts.ts';

const expired = { responder: 0, ttl: 254, type: 11, code: 0, quotedTtl: 1, quotedDscp: 0 };
const port = { role: 'incoming', index: 3, ip: '192.0.2.1', name: 'eth0', mtu: 1_500 } as const;

describe('the headers of the replies of a hop, in words', () => {
  it.each<[string, Parameters<typeof replyTexts>[0], number | undefined, readonly string[]]>([
    ['no replies', {}, undefined, []],
    ['the MTU that a router reported', { nextMtu: 1_400 }, undefined, ['MTU of the next link 1400']],
    ['nothing unusual', { replies: [expired] }, undefined, ['reply TTL 254']],
    ['two ways back', { replies: [expired, { ...expired, ttl: 250 }] }, 0, ['reply TTL 254 or 250']],
    ['a router in a tunnel', { replies: [{ ...expired, quotedTtl: 3 }] }, 0, ['reply TTL 254', 'quoted TTL 3']],
    ['the DSCP as sent', { replies: [{ ...expired, quotedDscp: 46 }] }, 46, ['reply TTL 254']],
    ['a changed DSCP', { replies: [expired] }, 46, ['reply TTL 254', 'DSCP 46 → 0']],
    [
      'address translation',
      { replies: [{ ...expired, ttl: null, rewritten: ['source', 'ports'] }] },
      0,
      ['rewritten source and ports'],
    ],
    [
      'interfaces, those of other packets once',
      {
        replies: [
          { ...expired, interfaces: [port] },
          { ...expired, ttl: 253, interfaces: [port] },
        ],
      },
      0,
      ['reply TTL 254 or 253', 'incoming interface eth0 (index 3, 192.0.2.1, MTU 1500)'],
    ],
    [
      'an interface without facts',
      { replies: [{ ...expired, interfaces: [{ role: 'outgoing', index: null, ip: null, name: null, mtu: null }] }] },
      0,
      ['reply TTL 254', 'outgoing interface'],
    ],
    ['late and duplicate replies', { duplicates: 1, late: 2 }, 0, ['1 duplicate', '2 late']],
  ])('have %s', (_reason, hop, dscp, texts) => {
    expect(replyTexts(hop, dscp)).toEqual(texts);
  });
});
