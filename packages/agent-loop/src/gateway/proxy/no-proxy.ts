import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

const TYPES = { 4: 'ipv4', 6: 'ipv6' } as const;

/**
 * True if this address is reached without the proxy. `NO_PROXY` has no standard: an entry here is a name, an address, a
 * network or a range of addresses, with or without a port, or `*`.
 */
export function isExcepted({ hostname, port }: URL, list: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  return entriesOf(list).some((entry) => {
    const { name, at } = withoutPort(entry);
    if (at !== undefined && at !== (port || '443')) return false;
    return name === '*' || (networkOf(name)?.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4') ?? isBelow(host, name));
  });
}

/** The first entry that has a slash but is no network, such as `10.0.0.0/`: it matches nothing. */
export function unreadableException(list: string): string | undefined {
  return entriesOf(list).find((entry) => {
    const { name } = withoutPort(entry);
    return name.includes('/') && networkOf(name) === undefined;
  });
}

function entriesOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** Separates an entry from its port. An IPv6 address can have a port only if it is in brackets. */
function withoutPort(entry: string): { readonly name: string; readonly at: string | undefined } {
  const [, bracketed, plain, at] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  return { name: bracketed ?? plain ?? entry, at };
}

/** An address, a network, or a range `from-to`; undefined for any other text, such as a name. */
function networkOf(text: string): BlockList | undefined {
  const [, from = '', sign, to = ''] = /^([^/-]+)(?:([/-])([^/-]+))?$/.exec(text) ?? [];
  const family = isIP(from) as 0 | 4 | 6;
  if (family === 0) return undefined;
  const network = new BlockList();
  const type = TYPES[family];
  if (sign === undefined) network.addAddress(from, type);
  else if (sign === '-' && isIP(to) === family) network.addRange(from, to, type);
  else if (sign === '/' && /^\d{1,3}$/.test(to) && Number(to) <= (family === 4 ? 32 : 128)) {
    network.addSubnet(from, Number(to), type);
  } else return undefined;
  return network;
}

/** True for the name itself and all names below it. A `*` within the name stands for any characters. */
function isBelow(host: string, name: string): boolean {
  const bare = name.replace(/^\*?\./, '').replace(/\.$/, '');
  const pattern = (domainToASCII(bare) || bare.toLowerCase())
    .split('*')
    .map((part) => part.replaceAll(/[^a-z0-9]/g, String.raw`\$&`))
    .join('.*');
  return new RegExp(`^(?:.*\\.)?${pattern}$`).test(host);
}
