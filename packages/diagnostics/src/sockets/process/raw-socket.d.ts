/** The used part of raw-socket 1.8.1, which has no type declarations. */
declare module 'raw-socket' {
  import type { EventEmitter } from 'node:events';

  export interface RawSocketOptions {
    readonly protocol: number;
    readonly addressFamily: number;
    /** Longer packets are cut off. Every message event reuses this memory. */
    readonly bufferSize?: number;
  }

  export interface RawSocket extends EventEmitter {
    /** The native socket. Its event `recvReady` reports that the descriptor can be read. */
    readonly wrap: NativeSocket;
    on(event: 'message', listener: (buffer: Buffer, source: string) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'close', listener: () => void): this;
    /** Calls back right before and right after the system call; errors of the first go to the second. */
    send(
      buffer: Buffer,
      offset: number,
      length: number,
      address: string,
      before: () => void,
      after: (error: Error | null, bytes: number) => void,
    ): this;
    /** Throws an Error with the text of strerror(3). */
    setOption(level: number, option: number, value: number): void;
    setOption(level: number, option: number, value: Buffer, length: number): void;
    pauseRecv(): this;
    close(): this;
  }

  export interface NativeSocket extends EventEmitter {
    /** One system call. Throws an Error with the text of strerror(3). */
    send(buffer: Buffer, offset: number, length: number, address: string, after: (bytes: number) => void): void;
  }

  /** Throws an Error with the text of strerror(3). */
  export function createSocket(options: RawSocketOptions): RawSocket;

  export const AddressFamily: { readonly IPv4: number; readonly IPv6: number };
}
