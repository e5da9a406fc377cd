import type { Family } from '@vantage/contract';

import type { PacketProtocol } from '../../../../sockets/packet-socket.ts';
import { readU16 } from '../../../../sockets/wire/bytes.ts';
import type { IcmpError } from '../../../../sockets/wire/icmp.ts';
import type { RewrittenField } from '../../reply-fields.ts';

interface Sent {
  readonly protocol: PacketProtocol;
  readonly family: Family;
  /** Source address; empty if it is not known. */
  readonly source: string;
  readonly destination: string;
}

/** Offset of the checksum after the IP header. */
const CHECKSUM_AT = { icmp: 2, udp: 6, tcp: 16 } as const;
const PORTS_BYTES = 4;

/**
 * Fields of a quoted packet that differ from the sent one: what address translation changes, unless it restores the
 * quotation. Forwarding alone changes none of them.
 *
 * @param sent the packet without its IP header
 */
export function rewrittenIn({ quoted }: IcmpError, sent: Uint8Array, options: Sent): readonly RewrittenField[] {
  const { protocol, source, destination } = options;
  const { payload } = quoted;
  const arePortsChanged =
    protocol !== 'icmp' && Buffer.compare(payload.subarray(0, PORTS_BYTES), sent.subarray(0, PORTS_BYTES)) !== 0;
  const changed: Readonly<Record<RewrittenField, boolean>> = {
    source: source !== '' && quoted.source !== source,
    destination: quoted.destination !== destination,
    ports: arePortsChanged,
    checksum: isChecksumChanged(payload, sent, CHECKSUM_AT[protocol]),
  };
  return (Object.keys(changed) as RewrittenField[]).filter((field) => changed[field]);
}

/**
 * True if the quoted checksum differs from the sent one. False if either is zero: the kernel fills in the checksum, or
 * the router quotes a packet before its hardware did.
 */
function isChecksumChanged(quoted: Uint8Array, sent: Uint8Array, at: number): boolean {
  if (quoted.length < at + 2) return false;
  const [found, expected] = [readU16(quoted, at), readU16(sent, at)];
  return found !== 0 && expected !== 0 && found !== expected;
}
