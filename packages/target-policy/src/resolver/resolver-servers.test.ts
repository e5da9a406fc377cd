import { describe, expect, it } from '@jest/globals';

import { resolverServers } from './resolver-servers.ts';

describe('the servers of a resolver', () => {
  const [first, second, third] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => ({ address, port: 53 }));
  let nowMs = 0;
  const opened = () => {
    nowMs = 1_000;
    const servers = resolverServers(['192.0.2.1', '192.0.2.2', '192.0.2.3'], () => nowMs);
    return {
      ...servers,
      order: () =>
        servers
          .inOrder()
          .map(({ address }) => address.at(-1))
          .join(''),
    };
  };

  it('come in the order of the configuration, those that were silent where another one answered last', () => {
    const { answered, order } = opened();

    expect(order()).toBe('123');
    answered(third!, [first!, second!]);
    expect(order()).toBe('312');
    answered(first!, [third!]);
    expect(order()).toBe('123');
  });

  it('come in the order of the configuration again after half a minute', () => {
    const { answered, order } = opened();

    answered(second!, [first!]);
    nowMs += 29_999;
    expect(order()).toBe('231');
    nowMs += 1;
    expect(order()).toBe('123');
  });

  it('are distinguished by their port', () => {
    const { inOrder, answered } = resolverServers(['192.0.2.1:53', '192.0.2.1:5353']);

    answered({ address: '192.0.2.1', port: 5353 }, [{ address: '192.0.2.1', port: 53 }]);

    expect(inOrder().map(({ port }) => port)).toEqual([5353, 53]);
  });
});
