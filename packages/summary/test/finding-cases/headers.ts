import { summaryOf, type Result } from '../cases.ts';
import { trace } from '../results.ts';
import type { FindingCases } from './case.ts';

type Hops = NonNullable<Result<'traceroute'>['hops']>;
type Reply = NonNullable<Hops[number]['replies']>[number];

const path = ['198.51.100.1 1', '192.0.2.1 2', '192.0.2.2 3', '192.0.2.3 4', '203.0.113.1 5'];
/** Reply of a router that sends with TTL 255; both directions have the same number of hops. */
const expired: Reply = { responder: 0, ttl: 255, type: 11, code: 0, quotedTtl: 1, quotedDscp: 0 };

/**
 * Summary of a trace with these reply headers per hop; routers answer with Time Exceeded, the target by the protocol.
 */
const on = (headers: readonly (readonly Partial<Reply>[])[], fields: Parameters<typeof trace>[1] = {}) => {
  const traced = trace(path, fields);
  const hops: Hops = traced.hops!.map((hop, index) => {
    const ttl = 255 - index;
    const replies = (headers[index] ?? [{}]).map((reply) =>
      index === path.length - 1 ? { responder: 0, ttl: 60, ...reply } : { ...expired, ttl, ...reply },
    );
    return { ...hop, replies, packets: hop.rtts.map(() => 0) };
  });
  return summaryOf('traceroute', { 'fra-1': { ...traced, hops } });
};
/** Replies that quote these DSCPs, hop by hop, to packets with 46. */
export const marked = (...values: readonly (number | readonly number[])[]): ReturnType<typeof summaryOf> =>
  on(
    values.map((value) => [value].flat().map((quotedDscp) => ({ quotedDscp }))),
    { dscp: 46 },
  );
export const rewritten = (...fields: readonly Reply['rewritten'][]): ReturnType<typeof on> =>
  on(fields.map((one) => [one ? { rewritten: one } : {}]));
const checksum: Partial<Reply> = { rewritten: ['checksum'] };
const left = (...ttls: readonly number[]) => on(ttls.map((quotedTtl) => [{ quotedTtl }]));
const back = (...ttls: readonly (number | null)[]) => on(ttls.map((ttl) => [{ ttl }]));

/** Cases of findings about the headers of replies to a traceroute. */
export const headerCases: FindingCases = {
  dscp_changed: {
    present: [
      ['two hops have another value', marked(46, 46, 0, 0)],
      ['all have, and none was asked for', on([8, 8, 8, 8].map((quotedDscp) => [{ quotedDscp }]))],
    ],
    absent: [
      ['all have the value that was sent', marked(46, 46, 46, 46)],
      ['one hop has another value, and later ones have not', marked(46, 0, 46, 46)],
      ['the last alone has another value', marked(46, 46, 46, 0)],
      ['replies of the hops disagree', marked(46, 46, [0, 46], [0, 46])],
    ],
  },
  path_translated: {
    present: [['routers quote another source', rewritten(undefined, ['source'], ['source'], ['source'])]],
    absent: [
      ['none does', rewritten(undefined, undefined)],
      ['one does, and later ones do not', rewritten(undefined, ['checksum'], undefined, undefined)],
      ['the last alone does', rewritten(undefined, undefined, undefined, ['checksum'])],
      [
        'the maximum segment size of a SYN is lowered',
        on([[{}], [checksum], [checksum], [checksum]], { protocol: 'tcp' }),
      ],
    ],
  },
  hidden_tunnel: {
    present: [['quoted TTLs grow', left(1, 2, 3, 1)]],
    absent: [
      ['all are 1', left(1, 1, 1, 1)],
      ['one is greater', left(1, 2, 1, 1)],
      ['they do not grow', left(1, 2, 2, 2)],
      ['they are 0', left(1, 0, 0, 1)],
    ],
  },
  way_back_differs: {
    present: [['target and last router are farther on the way back', back(255, 254, 253, 246, 54)]],
    absent: [
      ['both ways are as long', back(255, 254, 253, 252, 60)],
      ['the target alone sends with another TTL', back(255, 254, 253, 252, 50)],
      ['it is two hops', back(255, 254, 253, 250, 58)],
      ['the last router has no TTL, and the one before is as near', back(255, 254, 253, null, 50)],
    ],
  },
};
