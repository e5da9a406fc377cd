import type { Failure, FailureCode, Family } from '@vantage/contract';

import type { PacketProtocol } from '../packet-socket.ts';
import type { IcmpError } from '../wire/icmp.ts';
import { isOnLink } from './on-link.ts';

interface Verdict {
  readonly code: FailureCode;
  readonly text: string;
  /** Mark of traceroute(8), such as `!H`; null without one. `icmpMark` returns further ones. */
  readonly mark: string | null;
}

const noRoute: Verdict = { code: 'network_unreachable', text: 'the network cannot be reached', mark: '!N' };
const noHost: Verdict = { code: 'host_unreachable', text: 'the host cannot be reached', mark: '!H' };
const noProtocol: Verdict = { code: 'protocol_unreachable', text: 'the protocol is not spoken there', mark: '!P' };
const noPort: Verdict = { code: 'port_unreachable', text: 'nothing listens on the port', mark: null };
const tooBig: Verdict = { code: 'packet_too_big', text: 'the packet is too big for the next link', mark: '!F' };
const wronglyTooBig: Verdict = { ...tooBig, code: 'icmp_error' };
const forbidden: Verdict = { code: 'administratively_prohibited', text: 'a filter forbids the traffic', mark: '!X' };
const expired: Verdict = { code: 'time_exceeded', text: 'the packet ran out of hops', mark: null };

/** Codes of ICMP destination unreachable (RFC 792, RFC 1812 section 5.2.7.1). */
const unreachableV4: readonly (Verdict | undefined)[] = [
  noRoute,
  noHost,
  noProtocol,
  noPort,
  tooBig,
  { code: 'icmp_error', text: 'the source route failed', mark: '!S' },
  noRoute,
  noHost,
  { code: 'host_unreachable', text: 'the source host is isolated', mark: '!N' },
  forbidden,
  forbidden,
  noRoute,
  noHost,
  forbidden,
  { code: 'icmp_error', text: 'the precedence is not allowed', mark: '!V' },
  { code: 'icmp_error', text: 'the precedence is too low', mark: '!C' },
];

/** Codes of ICMPv6 destination unreachable (RFC 4443 section 3.1). */
const unreachableV6: readonly (Verdict | undefined)[] = [
  noRoute,
  forbidden,
  { code: 'host_unreachable', text: 'the address is beyond the scope of the source', mark: '!H' },
  noHost,
  noPort,
  forbidden,
  forbidden,
];

/**
 * The mark of traceroute(8) for the error; null for errors that only tell how far the packet got.
 *
 * @param isOfTarget whether the target sent it: a closed port is the goal of a trace, unless a router reports it
 * @param protocol of the sent packets: echo requests have no port
 */
export function icmpMark(
  family: Family,
  error: IcmpError,
  isOfTarget: boolean,
  protocol: PacketProtocol = 'udp',
): string | null {
  const { code, mark } = verdict(family, error);
  if (code === 'port_unreachable' && (!isOfTarget || protocol === 'icmp')) return `!<${error.code}>`;
  return error.kind === 'too-big' && error.mtu > 0 ? `!F-${error.mtu}` : mark;
}

/**
 * The failure that an ICMP error implies.
 *
 * @param sender its source address, or null if hidden
 * @param target the measured address. Its own errors are attributed to the target; those of the probe's kernel to the
 *   probe, or to the network if a target on the probe's link did not answer ARP or neighbour discovery; all others to
 *   the network.
 * @param protocol protocol of the sent packets
 */
export function icmpFailure(
  family: Family,
  { error, from }: { readonly error: IcmpError; readonly from: string },
  sender: string | null,
  target: string,
  protocol: PacketProtocol = 'icmp',
): Failure {
  const { code, text: plain } = verdict(family, error);
  const phase = protocol === 'tcp' ? 'connect' : 'response';
  const { destination } = error.quoted;
  if (isOfProbe({ error, from })) {
    return {
      phase,
      ...ofProbeItself(code, destination, `(ICMP type ${error.type} code ${error.code} of the probe itself)`),
    };
  }
  // A host refuses a SYN by RST (RFC 9293 section 3.5.2), never by port unreachable; echo requests have no port; and
  // another sender knows nothing of the target's listeners.
  const isOfFilter = code === 'port_unreachable' && (protocol !== 'udp' || sender !== target);
  const what = protocol === 'icmp' ? 'the packets are refused' : 'the port is refused';
  const text = isOfFilter ? `${what}, as packet filters do` : plain;
  const who = sender === target ? 'The target' : sender === null ? 'A router with a private address' : sender;
  const carried = error.kind === 'too-big' && error.mtu > 0 ? `, which carries ${error.mtu} bytes` : '';
  const mtu = isWronglyTooBig(family, error) ? `${carried}, although it has only ${error.quoted.totalBytes}` : carried;
  const message = `${who} said that ${text}${mtu} (ICMP type ${error.type} code ${error.code}).`;
  return { code, phase, source: sender === target ? 'target' : 'network', message };
}

/** True for an error that the probe's own kernel sent: the packet did not leave it. */
export function isOfProbe({ error, from }: { readonly error: IcmpError; readonly from: string }): boolean {
  const { source, destination } = error.quoted;
  return error.kind === 'unreachable' && from === source && from !== destination;
}

/**
 * The failure for an error that the probe's own kernel reports: the target, where they share a link, or the next hop does
 * not answer ARP or neighbour discovery, or local rules refuse the packet.
 */
function ofProbeItself(code: FailureCode, destination: string, icmp: string): Omit<Failure, 'phase'> {
  if (code === 'host_unreachable') {
    return isOnLink(destination)
      ? {
          code,
          source: 'network',
          message: `The target does not answer on the link that it shares with the probe ${icmp}.`,
        }
      : {
          code,
          source: 'probe',
          message: `The probe’s next hop does not answer on its link, so that packets were not sent ${icmp}.`,
        };
  }
  return { code, source: 'probe', message: `The probe’s own rules, such as its firewall, refuse the packet ${icmp}.` };
}

/** True for type 3 code 3 (RFC 792), and over IPv6 type 1 code 4 (RFC 4443). */
export function isPortUnreachable({ kind, type, code }: IcmpError): boolean {
  return kind === 'unreachable' && ((type === 3 && code === 3) || (type === 1 && code === 4));
}

/** Packets of this size pass any link: IPv6 links carry 1,280 bytes, and every IPv4 host takes 576 (RFC 791). */
const ALWAYS_CARRIED_BYTES: Readonly<Record<Family, number>> = { 4: 576, 6: 1_280 };

/**
 * True for a too-big error about a packet that every link carries and that fits the MTU which the error states: it
 * proves no size.
 */
function isWronglyTooBig(family: Family, { kind, mtu, quoted: { totalBytes } }: IcmpError): boolean {
  return kind === 'too-big' && totalBytes <= Math.min(mtu, ALWAYS_CARRIED_BYTES[family]);
}

function verdict(family: Family, error: IcmpError): Verdict {
  if (error.kind === 'time-exceeded') return expired;
  if (error.kind === 'too-big') return isWronglyTooBig(family, error) ? wronglyTooBig : tooBig;
  const known = (family === 4 ? unreachableV4 : unreachableV6)[error.code];
  if (error.kind === 'unreachable' && known !== undefined) return known;
  const text = error.kind === 'unreachable' ? 'the target cannot be reached' : 'it cannot read the packet';
  return { code: 'icmp_error', text, mark: `!<${error.code}>` };
}
