import { describe, expect, it } from '@jest/globals';
import { checkTypeNames, checkTypes } from '@vantage/diagnostics/contract';

import { abilityOf } from './capabilities.ts';
import { usableFamilies } from './connectivity.ts';

const noCamera = { isOffered: () => false, degraded: () => null };
const both = { ipv4: true, ipv6: true };
const can = { ipv4: null, ipv6: null };
const raw = checkTypeNames.filter((type) => checkTypes[type].needsRawSockets);
const plain = checkTypeNames.filter((type) => !checkTypes[type].needsRawSockets);

describe('what a probe can do', () => {
  it('is all it is configured for where raw sockets can be opened', () => {
    expect(abilityOf(checkTypeNames, both, can, noCamera)).toEqual({
      capabilities: { types: checkTypeNames, ipv4: true, ipv6: true, screenshot: false },
      degraded: [],
    });
  });

  it('is less without raw sockets, and each missing type is a reason', () => {
    const no = 'no privilege for raw sockets (CAP_NET_RAW)';
    const { capabilities, degraded } = abilityOf(checkTypeNames, both, { ipv4: no, ipv6: no }, noCamera);

    expect(capabilities.types).toEqual(plain);
    expect(degraded).toEqual([
      ...raw.map((type) => `${type}: ${no}`),
      'dns, http, tcp, udp: ICMP errors cannot be read',
    ]);
  });

  it('is not degraded by a type that it is not configured for', () => {
    expect(abilityOf(plain, both, { ipv4: 'no', ipv6: 'no' }, noCamera).degraded).toEqual([]);
  });

  it('is not degraded by a family that the machine does not have', () => {
    const { degraded } = abilityOf(checkTypeNames, { ipv4: true, ipv6: false }, { ipv4: null, ipv6: 'none' }, noCamera);
    expect(degraded).toEqual([]);
  });

  it('is degraded where the machine has no way out at all', () => {
    const noWay = { ipv4: false, ipv6: false };
    const { capabilities, degraded } = abilityOf(checkTypeNames, noWay, can, noCamera);

    expect(capabilities.types).toEqual(plain);
    // Without an address no family needs raw sockets, so they are not reported as missing.
    expect(degraded).toEqual(['The machine has no address with a default route.']);
    expect(abilityOf(checkTypeNames, noWay, { ipv4: 'no', ipv6: 'no' }, noCamera).degraded).toContain('ping: no');
  });
});

describe('the screenshots of a probe', () => {
  it('are claimed where they are offered', () => {
    const { capabilities } = abilityOf(plain, both, can, { isOffered: () => true, degraded: () => null });

    expect(capabilities.screenshot).toBe(true);
  });

  it('are a reason where they are missing and asked for', () => {
    const { degraded } = abilityOf(plain, both, can, { isOffered: () => false, degraded: () => 'screenshot: none' });

    expect(degraded).toEqual(['screenshot: none']);
  });
});

describe('the families of a probe', () => {
  const lonely = { addresses: ['127.0.0.1', '::1'], connectivity: { ipv4: false, ipv6: false } };

  it.each([
    ['nothing is allowed', [], false, false],
    ['IPv4 loopback is allowed', ['127.0.0.0/8'], true, false],
    ['IPv6 loopback is allowed', ['::1'], false, true],
    ['something else is allowed', ['10.0.0.0/8', 'fd00::/8'], false, false],
  ])('of a machine that is alone, where %s', (_reason, allowed, ipv4, ipv6) => {
    expect(usableFamilies(allowed, lonely)).toEqual({ ipv4, ipv6 });
  });

  it('are those with a way out', () => {
    const facts = { addresses: ['192.0.2.1'], connectivity: { ipv4: true, ipv6: false } };

    expect(usableFamilies([], facts)).toEqual({ ipv4: true, ipv6: false });
  });

  it('are none where there is a default route and only link-local addresses', () => {
    const facts = { addresses: ['169.254.7.7', 'fe80::1'], connectivity: { ipv4: true, ipv6: true } };

    expect(usableFamilies([], facts)).toEqual({ ipv4: false, ipv6: false });
  });
});
