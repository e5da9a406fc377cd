import { describe, expect, it } from '@jest/globals';

import { navigationFailure } from './failures.ts';

describe('a page that Chromium could not load', () => {
  it('is no failure of the target where an interface of the probe changed', () => {
    const failure = navigationFailure(new Error('net::ERR_NETWORK_CHANGED at https://page.test/'));

    expect(failure).toMatchObject({ code: 'screenshot_failed', phase: 'exec', source: 'probe' });
  });

  it('is a failure of the target where the target closed the connection', () => {
    const failure = navigationFailure(new Error('net::ERR_CONNECTION_CLOSED at https://page.test/'));

    expect(failure).toMatchObject({ code: 'connection_closed', source: 'target' });
  });
});
