import { randomBytes } from 'node:crypto';

/**
 * The default payload: on the ports of `payloads` a harmless query of the usual protocol, elsewhere an empty datagram.
 *
 * @param tag name of the probe, for protocols with room for it
 */
export function protocolPayload(port: number, host: string, tag: string): Uint8Array {
  return payloads.get(port)?.(host, port, tag) ?? new Uint8Array();
}

type MakePayload = (host: string, port: number, tag: string) => Uint8Array;

const payloads: ReadonlyMap<number, MakePayload> = new Map([
  [53, dnsPayload],
  [123, ntpPayload],
  [161, snmpPayload],
  [443, quicPayload],
  [853, quicPayload],
  [3478, stunPayload],
  [3479, stunPayload],
  [5060, sipPayload],
  [5683, coapPayload],
  [19302, stunPayload],
]);

/**
 * A query (RFC 1035 section 4.1) for the SOA record of the root, which every resolver can answer; as a rule other
 * servers answer REFUSED.
 */
function dnsPayload(): Uint8Array {
  const header = [...randomBytes(2), 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
  return Uint8Array.from([...header, 0, 0, 6, 0, 1]);
}

/**
 * A client packet of version 4 (RFC 5905 section 7.3). The transmit timestamp is random, as the server only copies it
 * (draft-ietf-ntp-data-minimization).
 */
function ntpPayload(): Uint8Array {
  const packet = new Uint8Array(48);
  packet[0] = 0x23;
  packet.set(randomBytes(8), 40);
  return packet;
}

/** GetRequest of version 1 for sysDescr.0 with the community `public` (RFC 1157 section 4.1.2). */
function snmpPayload(): Uint8Array {
  const requestId = randomBytes(4);
  // BER requires the shortest form of an integer: a first octet from 1 to 127 is never redundant, so four bytes stay
  // four.
  requestId[0] = (requestId[0]! & 0x7e) | 1;
  const sysDescr = [0x06, 0x08, 0x2b, 0x06, 0x01, 0x02, 0x01, 0x01, 0x01, 0x00];
  const bindings = tlv(0x30, tlv(0x30, [...sysDescr, 0x05, 0x00]));
  const pdu = tlv(0xa0, [...tlv(0x02, [...requestId]), 0x02, 1, 0, 0x02, 1, 0, ...bindings]);
  return Uint8Array.from(tlv(0x30, [0x02, 1, 0, ...tlv(0x04, [...Buffer.from('public')]), ...pdu]));
}

function tlv(tag: number, value: readonly number[]): number[] {
  return [tag, value.length, ...value];
}

/**
 * A long header with a reserved version, which makes servers list their versions (RFC 9000 sections 6 and 15), padded
 * to the minimum size for a response (section 14.1).
 */
function quicPayload(): Uint8Array {
  const packet = new Uint8Array(1200);
  packet.set([0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, ...randomBytes(8), 8, ...randomBytes(8)]);
  return packet;
}

/** A Binding request without attributes (RFC 8489 section 6). */
function stunPayload(): Uint8Array {
  return Uint8Array.from([0x00, 0x01, 0x00, 0x00, 0x21, 0x12, 0xa4, 0x42, ...randomBytes(12)]);
}

/** OPTIONS (RFC 3261 section 11); the answer is sent to the source port (RFC 3581). */
function sipPayload(host: string, port: number, tag: string): Uint8Array {
  const uri = host.includes(':') ? `sip:[${host}]:${port}` : `sip:${host}:${port}`;
  const token = randomBytes(8).toString('hex');
  const lines = [
    `OPTIONS ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP probe.invalid;branch=z9hG4bK${token};rport`,
    'Max-Forwards: 0',
    `From: <sip:probe@probe.invalid>;tag=${token}`,
    `To: <${uri}>`,
    `Call-ID: ${token}@probe.invalid`,
    'CSeq: 1 OPTIONS',
    'Accept: application/sdp',
    `User-Agent: ${tag.replaceAll(/[^\x20-\x7e]/g, '')}`,
    'Content-Length: 0',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

/** An empty confirmable message, which is answered by a reset (RFC 7252 section 4.3). */
function coapPayload(): Uint8Array {
  return Uint8Array.from([0x40, 0x00, ...randomBytes(2)]);
}
