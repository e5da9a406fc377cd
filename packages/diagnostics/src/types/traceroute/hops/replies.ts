import { escapeText } from '@vantage/contract';

import type { InterfaceObject } from '../../../sockets/wire/extensions.ts';
import { MAX_PACKETS } from '../options/packet-counts.ts';
import type { TraceAnswer, TracePacket } from '../probing/trace.ts';
import { MAX_REPLIES, type Reply } from '../reply-fields.ts';
import type { Hop } from '../result-fields.ts';

interface AddressText {
  readonly publicIp: (address: string) => string | null;
  readonly nextMtus?: ReadonlyMap<string, number>;
}

/**
 * Summarises the header fields of the replies of a hop, the smallest MTU that its routers reported, and the numbers of
 * duplicates and late replies. Equal replies are listed once, because hundreds of packets have few kinds of replies.
 *
 * @param responders addresses of the hop, by their index
 */
export function repliesOf(
  packets: readonly TracePacket[],
  responders: readonly string[],
  { publicIp, nextMtus }: AddressText,
): Pick<Hop, 'nextMtu' | 'replies' | 'packets' | 'duplicates' | 'late'> {
  const kinds = new Map<string, Reply>();
  const indexes = packets.map(({ answer }) => {
    if (answer === null) return null;
    const responder = responders.indexOf(answer.from);
    const reply = replyOf(answer, responder === -1 ? null : responder, publicIp);
    const key = JSON.stringify(reply);
    if (!kinds.has(key)) kinds.set(key, reply);
    return [...kinds.keys()].indexOf(key);
  });
  // Bounds the number for the schema: a target may send any number of duplicates.
  const duplicates = Math.min(
    MAX_PACKETS,
    packets.reduce((sum, packet) => sum + (packet.duplicates ?? 0), 0),
  );
  const late = packets.filter((packet) => packet.isLate === true && packet.answer === null).length;
  const replies = [...kinds.values()].slice(0, MAX_REPLIES);
  const reported = responders.flatMap((address) => nextMtus?.get(address) ?? []);
  return {
    ...(reported.length === 0 ? {} : { nextMtu: Math.min(...reported) }),
    ...(replies.length === 0 ? {} : { replies }),
    ...(replies.length === 0
      ? {}
      : { packets: indexes.map((one) => (one === null || one < MAX_REPLIES ? one : null)) }),
    ...(duplicates === 0 ? {} : { duplicates }),
    ...(late === 0 ? {} : { late }),
  };
}

function replyOf(
  { error, hopLimit, rewritten }: TraceAnswer,
  responder: number | null,
  publicIp: AddressText['publicIp'],
): Reply {
  const common = { responder, ttl: hopLimit };
  if (error === null) return common;
  const { type, code, quoted, interfaces } = error;
  return {
    ...common,
    type,
    code,
    quotedTtl: quoted.hopLimit,
    quotedDscp: quoted.dscp,
    ...(rewritten.length === 0 ? {} : { rewritten: [...rewritten] }),
    ...(interfaces.length === 0 ? {} : { interfaces: interfaces.map((one) => interfaceOf(one, publicIp)) }),
  };
}

function interfaceOf(
  { role, index, address, name, mtu }: InterfaceObject,
  publicIp: AddressText['publicIp'],
): NonNullable<Reply['interfaces']>[number] {
  const ip = address === null ? null : publicIp(address);
  return { role, index, ip, name: name === null ? null : escapeText(name, 253), mtu };
}
