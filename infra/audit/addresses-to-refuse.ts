import { BlockList, isIPv4 } from 'node:net';

import { specialData } from '../../packages/target-policy/src/addresses/special-data.ts';

/**
 * Addresses of every refused range of the table: its first two, one in the middle, its last two, except those of a
 * narrower range that is allowed. The row that applies to an address is determined without the code under test.
 */
export function addressesToRefuse(): readonly string[] {
  const rows = specialData.ranges.map((row) => ({
    ...row,
    list: listOf(row.cidr),
    length: Number(row.cidr.split('/')[1]),
  }));
  const isRefused = (address: string): boolean => {
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const ruling = rows
      .filter(({ cidr, list }) => isIPv4(cidr.split('/')[0]!) === (family === 'ipv4') && list.check(address, family))
      .toSorted((a, b) => b.length - a.length)[0];
    return ruling?.refuse ?? family === 'ipv6';
  };
  const samples = rows.filter(({ refuse }) => refuse).flatMap(({ cidr }) => samplesOf(cidr));
  return [...new Set(samples)].filter(isRefused);
}

function listOf(cidr: string): BlockList {
  const [address = '', length = ''] = cidr.split('/');
  const list = new BlockList();
  list.addSubnet(address, Number(length), isIPv4(address) ? 'ipv4' : 'ipv6');
  return list;
}

function samplesOf(cidr: string): readonly string[] {
  const [address = '', length = ''] = cidr.split('/');
  const bits = isIPv4(address) ? 32 : 128;
  const size = 1n << BigInt(bits - Number(length));
  const first = bits === 32 ? toNumber(address.split('.'), 8n, 10) : toNumber(expand(address), 16n, 16);
  const offsets = [0n, 1n, size / 2n, size - 2n, size - 1n].filter((offset) => offset >= 0n && offset < size);
  return offsets.map((offset) => (bits === 32 ? ipv4(first + offset) : ipv6(first + offset)));
}

function expand(address: string): readonly string[] {
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
}

function toNumber(parts: readonly string[], bits: bigint, radix: number): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(Number.parseInt(part, radix)), 0n);
}

function ipv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
}

function ipv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
  return groups.map((group) => group.toString(16)).join(':');
}
