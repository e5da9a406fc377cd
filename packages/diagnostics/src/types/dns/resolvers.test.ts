import { describe, expect, it } from '@jest/globals';

import { testContext } from '@vantage/test-support/context';
import { chooseResolvers } from './resolvers.ts';

describe("the probe's own resolvers", () => {
  it.each([
    ['an address', '192.0.2.53', '192.0.2.53', 53],
    ['an address and a port', '192.0.2.53:5353', '192.0.2.53', 5353],
    ['a link-local address', 'fe80::53%eth0', 'fe80::53%eth0', 53],
    ['a link-local address and a port', '[fe80::53%eth0.100]:5353', 'fe80::53%eth0.100', 5353],
  ])('are asked where one is %s', async (_what, text, address, port) => {
    const { signal } = new AbortController();
    const flags = { trace: false, dnssecOk: false, nsid: false, checkingDisabled: false, recursionDesired: true };

    const chosen = await chooseResolvers({ ...flags, transport: 'udp' }, testContext({ resolvers: [text] }), signal);

    expect(chosen).toMatchObject({ servers: [{ target: { address, family: address.includes(':') ? 6 : 4 }, port }] });
  });
});
