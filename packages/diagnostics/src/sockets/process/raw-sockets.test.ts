import { EventEmitter } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import { openRawSocket, type RawSocketLibrary } from './raw-sockets.ts';

class FakeRawSocket extends EventEmitter {
  isOpen = true;
  readonly refuses: boolean;

  constructor(refuses: boolean) {
    super();
    this.refuses = refuses;
  }

  send(): this {
    return this;
  }

  setOption(): void {
    if (this.refuses) throw new Error('Operation not permitted');
  }

  pauseRecv(): this {
    return this;
  }

  close(): this {
    this.isOpen = false;
    return this;
  }
}

/** A raw-socket with one defect, and the sockets that it created. */
function failingLibrary(broken: string): { readonly library: RawSocketLibrary; readonly given: FakeRawSocket[] } {
  const given: FakeRawSocket[] = [];
  const createSocket = (): FakeRawSocket => {
    const name = given.length === 0 ? 'receiver' : 'sender';
    if (broken === `${name} creation`) throw new Error('Too many open files');
    const socket = new FakeRawSocket(broken === `${name} option`);
    given.push(socket);
    return socket;
  };
  return { library: { createSocket, AddressFamily: { IPv4: 1, IPv6: 2 } }, given };
}

describe('a raw socket', () => {
  it.each([
    ['sender creation', 1],
    ['receiver option', 1],
    ['sender option', 2],
  ])('leaves no descriptor open when opening fails halfway: %s', (broken, atLeast) => {
    const { library, given } = failingLibrary(broken);

    expect(() => openRawSocket(library, undefined, 4, 'icmp', () => undefined)).toThrow(/^(Too many|Operation)/);
    expect(given.length).toBeGreaterThanOrEqual(atLeast);
    expect(given.filter(({ isOpen }) => isOpen)).toEqual([]);
  });
});
