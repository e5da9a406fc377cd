import { isIP } from 'node:net';

import { parse } from 'tldts';

import { boundText } from '../../shared/bounded-text.ts';
import { addressBytes, addressText } from '@vantage/contract/address';

/** Names and addresses in a certificate. */
export interface ServerNames {
  readonly commonName: string | null;
  /**
   * Alternative names of the kind `dNSName`. They, and the `addresses` of the kind `iPAddress`, are the only ones that
   * count.
   */
  readonly names: readonly string[];
  readonly addresses: readonly Uint8Array[];
}

/**
 * Why a certificate is invalid for a host; `null` if it is valid. RFC 9525: only alternative names count (section 2),
 * and a wildcard is the whole left-most label (section 6.3). At least two labels follow it, and it does not cover all
 * domains of a registry (`*.co.uk`). A final dot of a name is ignored.
 *
 * @param host canonical: a name in ASCII and lower case, or an address
 */
export function hostMismatch(host: string, served: ServerNames): string | null {
  if (isIP(host) !== 0) return addressMismatch(host, served);
  const wanted = withoutDot(host);
  const whole = served.names.map(withoutDot).filter((name) => isWholeName(wanted, name));
  if (whole.some((name) => !isOfRegistry(name))) return null;
  if (whole.length > 0) {
    return `it is for ${boundText(whole[0]!, 60)}, all domains of a registry: Chromium refuses it, though other clients take it`;
  }
  const partial = served.names.find((name) => isPartialWildcard(wanted, withoutDot(name)));
  if (partial !== undefined) {
    return `it is for ${boundText(partial, 60)}, and a wildcard counts only as a whole label (RFC 9525), though some clients take it`;
  }
  const { commonName, names } = served;
  if (names.length === 0 && commonName !== null && isWholeName(wanted, withoutDot(commonName))) {
    return 'it has the host as its common name only, which does not count (RFC 9525): browsers refuse it, though some clients take it';
  }
  return isFor(served);
}

function addressMismatch(host: string, served: ServerNames): string | null {
  const wanted = Buffer.from(addressBytes(host));
  if (served.addresses.some((address) => wanted.equals(address))) return null;
  if (served.names.includes(host)) return 'it has the address as a DNS name, which does not count (RFC 9525)';
  return isFor(served);
}

function isFor({ names, addresses, commonName }: ServerNames): string {
  const all = [...names, ...addresses.flatMap((bytes) => ([4, 16].includes(bytes.length) ? [addressText(bytes)] : []))];
  if (all.length === 0)
    return `it has no alternative names${commonName === null ? '' : `, and the common name ${boundText(commonName, 60)}`}`;
  const shown = all
    .slice(0, SHOWN_NAMES)
    .map((name) => boundText(name, 60))
    .join(', ');
  return `it is for ${shown}${all.length > SHOWN_NAMES ? ` and ${all.length - SHOWN_NAMES} more` : ''}`;
}

const SHOWN_NAMES = 3;

function isWholeName(host: string, name: string): boolean {
  if (!name.startsWith('*.')) return name === host;
  const [, ...parent] = host.split('.');
  return parent.length >= 2 && parent.join('.') === name.slice(2);
}

/**
 * True for a wildcard over all domains of a registry. A suffix in the private part of the Public Suffix List, such as
 * `github.io`, does not count, because it belongs to one owner.
 */
function isOfRegistry(name: string): boolean {
  if (!name.startsWith('*.')) return false;
  const parent = name.slice(2);
  return parse(parent, { allowPrivateDomains: false, extractHostname: false, detectIp: false }).publicSuffix === parent;
}

/**
 * True if the name covers the host by a wildcard within its first label, such as `w*.example.org`: RFC 6125 still
 * allowed it.
 */
function isPartialWildcard(host: string, name: string): boolean {
  const [label = '', ...parent] = name.split('.');
  const [hostLabel = '', ...hostParent] = host.split('.');
  const [before, after, ...more] = label.split('*');
  if (before === undefined || after === undefined || more.length > 0 || label === '*') return false;
  if (parent.length < 2 || parent.join('.') !== hostParent.join('.')) return false;
  return hostLabel.length >= label.length - 1 && hostLabel.startsWith(before) && hostLabel.endsWith(after);
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '').toLowerCase();
}
