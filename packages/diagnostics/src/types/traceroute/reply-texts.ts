import { count } from '../../shared/result-text.ts';
import type { Reply } from './reply-fields.ts';
import type { Hop } from './result-fields.ts';

export { stallText } from '../../stall-text.ts';
export { answeringRecords } from '../../shared/answering-records.ts';

/**
 * Describes the MTU that a hop reported, and the headers of its replies: each property with its different values,
 * without the usual ones (quoted TTL 1, the DSCP that was sent). Then the numbers of duplicates and late replies.
 */
export function replyTexts(
  hop: Partial<Pick<Hop, 'nextMtu' | 'replies' | 'duplicates' | 'late'>>,
  dscp = 0,
): readonly string[] {
  const { nextMtu, replies = [], duplicates = 0, late = 0 } = hop;
  const valuesOf = <T>(read: (reply: Reply) => T | null | undefined): readonly T[] =>
    [...new Set(replies.flatMap((reply) => read(reply) ?? []))] as T[];
  const quotedTtls = valuesOf(({ quotedTtl }) => quotedTtl).filter((ttl) => ttl !== 1);
  const changed = valuesOf(({ quotedDscp }) => quotedDscp).filter((value) => value !== dscp);
  const rewritten = valuesOf(({ rewritten: fields }) => fields?.join(' and '));
  return [
    ...(nextMtu === undefined ? [] : [`MTU of the next link ${nextMtu}`]),
    ...named(
      'reply TTL',
      valuesOf(({ ttl }) => ttl),
    ),
    ...named('quoted TTL', quotedTtls),
    ...(changed.length === 0 ? [] : [`DSCP ${dscp} → ${changed.join(' or ')}`]),
    ...named('rewritten', rewritten),
    ...new Set(replies.flatMap(({ interfaces = [] }) => interfaces.map(interfaceText))),
    ...(duplicates === 0 ? [] : [count(duplicates, 'duplicate')]),
    ...(late === 0 ? [] : [`${late} late`]),
  ];
}

function named(name: string, values: readonly (string | number)[]): readonly string[] {
  return values.length === 0 ? [] : [`${name} ${values.join(' or ')}`];
}

/** For example `incoming interface eth0 (index 3, 192.0.2.1, MTU 1500)`. */
function interfaceText({ role, name, index, ip, mtu }: NonNullable<Reply['interfaces']>[number]): string {
  const facts = [index === null ? null : `index ${index}`, ip, mtu === null ? null : `MTU ${mtu}`];
  const known = facts.filter((fact) => fact !== null).join(', ');
  const who = name === null ? '' : ` ${name}`;
  return `${role} interface${who}${known === '' ? '' : ` (${known})`}`;
}

interface RoundsResult {
  readonly hops?: readonly Pick<Hop, 'hop' | 'responders' | 'rtts' | 'late'>[] | undefined;
  readonly resolvedIp?: string | null | undefined;
  readonly targetHops?: readonly { readonly hop: number }[] | undefined;
}

/**
 * Number of packets in a row, up to the last one to the target, that were not answered; a router may have refused them.
 * 0 if no row is the target's, and if half or more may have got an answer after 4 s, which is no silence.
 */
export function unansweredRounds({ hops = [], resolvedIp: target, targetHops }: RoundsResult): number {
  const last = targetHops?.at(-1);
  const row =
    last === undefined
      ? hops.findLast(({ responders }) => responders.some(({ ip }) => ip !== null && ip === target))
      : hops.find(({ hop }) => hop === last.hop);
  if (row === undefined) return 0;
  const unanswered = row.rtts.length - 1 - row.rtts.findLastIndex((rtt) => rtt !== null);
  return 2 * (row.late ?? 0) >= unanswered ? 0 : unanswered;
}
