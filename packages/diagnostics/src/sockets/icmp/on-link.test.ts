import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { isOnLink } from './on-link.ts';

const header =
  'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT                                                       \n';
const none = '0'.repeat(32);
/** 203.0.113.0/24 without a router, 198.51.100.0/24 by a tunnel, 198.18.0.0/15 by 203.0.113.1 except 198.18.7.0/24. */
const routes: readonly (readonly string[])[] = [
  ['eth9', '00000000', '017100CB', '0003', '0', '0', '0', '00000000', '0', '0', '0'],
  ['eth9', '007100CB', '00000000', '0001', '0', '0', '0', '00FFFFFF', '0', '0', '0'],
  ['wg9', '006433C6', '00000000', '0001', '0', '0', '0', '00FFFFFF', '0', '0', '0'],
  ['eth9', '000012C6', '017100CB', '0003', '0', '0', '0', '0000FEFF', '0', '0', '0'],
  ['eth9', '000712C6', '00000000', '0001', '0', '0', '0', '00FFFFFF', '0', '0', '0'],
];
/** 2001:db8:1::/64 by two routes: that without a router has the better metric; the rest by fe80::1. */
const sixRoutes: readonly (readonly string[])[] = [
  ['20010db8000100000000000000000007', '80', none, '00', none, '00000100', '1', '0', '00000001', 'eth9'],
  ['20010db8000100000000000000000000', '40', none, '00', `fe80${none.slice(5)}1`, '00000400', '1', '0', '3', 'eth9'],
  ['20010db8000100000000000000000000', '40', none, '00', none, '00000100', '1', '0', '00000001', 'eth9'],
  [none, '00', none, '00', `fe80${none.slice(5)}1`, '00000400', '1', '0', '00000003', 'eth9'],
  [none, '00', none, '00', none, 'ffffffff', '1', '0', '00200200', 'lo'],
];

const folder = mkdtempSync(join(tmpdir(), 'routes-'));
const linux = { routes: folder, devices: folder };

beforeAll(() => {
  const isLittle = endianness() === 'LE';
  const native = (text: string): string =>
    isLittle || !/^[\dA-F]{8}$/.test(text) ? text : Buffer.from(text, 'hex').swap32().toString('hex');
  writeFileSync(join(folder, 'route'), header + routes.map((row) => `${row.map(native).join('\t')}\n`).join(''));
  writeFileSync(join(folder, 'ipv6_route'), sixRoutes.map((row) => `${row.join(' ')}\n`).join(''));
  for (const [device, flags] of [['eth9', '0x1003'] as const, ['wg9', '0x91'] as const]) {
    mkdirSync(join(folder, device));
    writeFileSync(join(folder, device, 'flags'), `${flags}\n`);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('an address', () => {
  it('is on a link of the machine if it is in a network of an interface', () => {
    expect([isOnLink('127.200.0.9'), isOnLink('203.0.113.9'), isOnLink('2001:db8::9')]).toEqual([true, false, false]);
  });

  it.each([
    ['by a route without a router', '203.0.113.9', true],
    ['not by a default route', '240.0.0.9', false],
    ['not by a tunnel, which has no neighbours', '198.51.100.9', false],
    ['not by a router', '198.19.0.9', false],
    ['by the longest prefix', '198.18.7.9', true],
    ['by the network of an interface without a route', '127.200.0.9', true],
    ['by the IPv6 prefix of a router advertisement, with an address of DHCPv6', '2001:db8:1::9', true],
    ['not by an IPv6 router', '2001:db8:2::9', false],
  ])('is on a link of the machine %s', (_, address, isNeighbour) => {
    expect(isOnLink(address, linux)).toBe(isNeighbour);
  });

  it('is not on a link by the network of an IPv6 address alone, whose prefix may not be on-link', () => {
    const interfaces = () => ({ eth9: [{ address: '2001:db8:5::1', cidr: '2001:db8:5::1/64' }] });
    const unread = { routes: join(folder, 'absent'), devices: folder, interfaces };

    expect([isOnLink('2001:db8:5::9', { ...linux, interfaces }), isOnLink('2001:db8:5::9', unread)]).toEqual([
      false,
      true,
    ]);
  });

  it('is on a link by the networks of interfaces alone where the routes are too many to read', () => {
    const many = { routes: mkdtempSync(join(folder, 'many-')), devices: folder };
    writeFileSync(join(many.routes, 'route'), header + `${routes[1]!.join('\t')}\n`.repeat(4_000));

    expect([isOnLink('203.0.113.9', many), isOnLink('127.200.0.9', many)]).toEqual([false, true]);
  });
});
