import { describe, expect, it } from '@jest/globals';

import { parseIpv4Routes, parseIpv6Routes } from './routes.ts';

const HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const ZERO = '0'.repeat(32);

function ipv4Row(destination: string, gateway: string, mask: string): string {
  return `eth0\t${destination}\t${gateway}\t0003\t0\t0\t100\t${mask}\t0\t0\t0   \n`;
}

function ipv6Row(destination: string, length: string, nextHop: string, flags: string, device: string): string {
  return `${destination} ${length} ${ZERO} 00 ${nextHop} 00000400 00000001 00000000 ${flags}     ${device}\n`;
}

describe('the IPv4 routes of the kernel', () => {
  it('name the gateways and whether there is a default', () => {
    const text =
      HEAD +
      ipv4Row('00000000', '010200C0', '00000000') +
      ipv4Row('000200C0', '00000000', '00FFFFFF') +
      ipv4Row('0000000A', 'FE0200C0', '000000FF') +
      ipv4Row('0000000B', 'FE0200C0', '000000FF');

    expect(parseIpv4Routes(text)).toEqual({ gateways: ['192.0.2.1', '192.0.2.254'], hasDefault: true });
  });

  it('have a default without a gateway on a point-to-point link', () => {
    expect(parseIpv4Routes(HEAD + ipv4Row('00000000', '00000000', '00000000'))).toEqual({
      gateways: [],
      hasDefault: true,
    });
  });

  it('have no default where half of the Internet has a route', () => {
    expect(parseIpv4Routes(HEAD + ipv4Row('00000000', '010200C0', '00000080'))).toMatchObject({ hasDefault: false });
  });

  it('have no default where the kernel refuses or drops what has no other route', () => {
    const unreachable = '*\t00000000\t00000000\t0201\t0\t0\t5\t00000000\t0\t0\t0   \n';
    const blackhole = '*\t00000000\t00000000\t0001\t0\t0\t9\t00000000\t0\t0\t0   \n';

    expect(parseIpv4Routes(HEAD + unreachable + blackhole)).toEqual({ gateways: [], hasDefault: false });
  });

  it('may be none', () => {
    expect(parseIpv4Routes(HEAD)).toEqual({ gateways: [], hasDefault: false });
    expect(parseIpv4Routes('')).toEqual({ gateways: [], hasDefault: false });
  });
});

describe('the IPv6 routes of the kernel', () => {
  it('name the gateways and whether there is a default', () => {
    const text =
      ipv6Row('20010db8000000000000000000000000', '20', ZERO, '00000001', 'eth0') +
      ipv6Row(ZERO, '00', 'fe800000000000000000000000000001', '00450003', 'eth0');

    expect(parseIpv6Routes(text)).toEqual({ gateways: ['fe80::1'], hasDefault: true });
  });

  it('have no default where the kernel only says that there is none', () => {
    expect(parseIpv6Routes(ipv6Row(ZERO, '00', ZERO, '00200200', 'lo'))).toEqual({ gateways: [], hasDefault: false });
  });

  it('have no default where it leads to loopback', () => {
    expect(parseIpv6Routes(ipv6Row(ZERO, '00', ZERO, '00000001', 'lo'))).toMatchObject({ hasDefault: false });
  });

  it('have no default where it rejects', () => {
    expect(parseIpv6Routes(ipv6Row(ZERO, '00', ZERO, '00000201', 'eth0'))).toMatchObject({ hasDefault: false });
  });
});
