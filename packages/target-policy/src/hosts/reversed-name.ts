import { ADDRESS_BITS, type Address } from '../addresses/address.ts';
import { prefixOf, type Prefix } from '../addresses/prefix.ts';

interface ReversedZone {
  readonly suffix: string;
  readonly family: Address['family'];
  readonly label: RegExp;
  readonly bits: number;
  readonly radix: string;
}

const zones: readonly ReversedZone[] = [
  // RFC 1035 section 3.5.
  { suffix: 'in-addr.arpa', family: 4, label: /^(?:0|[1-9][0-9]{0,2})$/, bits: 8, radix: '' },
  // RFC 3596 section 2.5.
  { suffix: 'ip6.arpa', family: 6, label: /^[0-9a-f]$/, bits: 4, radix: '0x' },
];

/**
 * The prefix denoted by a canonical name under in-addr.arpa or ip6.arpa: an address if all labels are present, the
 * whole space for the zone itself. Labels are read from the right until one is no part of an address, as in
 * `_udp.0.2.0.192.in-addr.arpa`. Undefined for other names.
 */
export function reversedPrefix(name: string): Prefix | undefined {
  const zone = zones.find(({ suffix }) => name === suffix || name.endsWith(`.${suffix}`));
  if (zone === undefined) return undefined;
  const labels = name.slice(0, -zone.suffix.length).split('.').slice(0, -1);
  let value = 0n;
  let length = 0;
  for (const label of labels.toReversed()) {
    const part = zone.label.test(label) ? BigInt(zone.radix + label) : undefined;
    if (part === undefined || part >> BigInt(zone.bits) !== 0n || length === ADDRESS_BITS[zone.family]) break;
    value = (value << BigInt(zone.bits)) | part;
    length += zone.bits;
  }
  return prefixOf({ family: zone.family, value: value << BigInt(ADDRESS_BITS[zone.family] - length) }, length);
}
