import { describe, expect, it } from '@jest/globals';

import { browserFlags } from './flags.ts';

const options = { proxyPort: 4_711, profileFolder: '/folder/profile', userAgent: 'Vantage/0', hasSharedMemory: true };

describe('the command line of a browser', () => {
  it.each([
    ['everything goes to the proxy', '--proxy-server=http://127.0.0.1:4711'],
    ['loopback too', '--proxy-bypass-list=<-loopback>'],
    ['no datagrams of WebRTC', '--webrtc-ip-handling-policy=disable_non_proxied_udp'],
    ['nor by its other switch', '--force-webrtc-ip-handling-policy=disable_non_proxied_udp'],
    ['no QUIC', '--disable-quic'],
    ['no second window', '--block-new-web-contents'],
    ['commands through a pipe', '--remote-debugging-pipe'],
    ['a name', '--user-agent=Vantage/0'],
  ])('says: %s', (_reason, flag) => {
    expect(browserFlags(options)).toContain(flag);
  });

  it('neither opens a debugging port nor turns the sandbox off', () => {
    const flags = browserFlags({ ...options, hasSharedMemory: false });

    expect(
      flags.filter((flag) => /debugging-(port|address)|sandbox|disable-web-security|single-process/.test(flag)),
    ).toEqual([]);
  });

  it('keeps shared memory in files only where there is too little of it', () => {
    expect(browserFlags(options)).not.toContain('--disable-dev-shm-usage');
    expect(browserFlags({ ...options, hasSharedMemory: false })).toContain('--disable-dev-shm-usage');
  });
});
