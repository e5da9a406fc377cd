import type * as koffi from 'koffi';

/** The calls of libc that raw-socket has no door to. */
export interface Libc {
  /** Bytes received, or -1 with `errno`. `header` is the memory of a struct msghdr. */
  readonly recvmsg: (descriptor: number, header: LibcMemory, flags: number) => number;
  /** The value of an option that is an int; undefined where the descriptor is no socket or has no such option. */
  readonly intOption: (descriptor: number, level: number, option: number) => number | undefined;
  /** The wall clock, CLOCK_REALTIME: the clock of the kernel's stamps. */
  readonly wallClock: () => WallTime;
  /** Memory at an address that stays, until it is freed. */
  readonly allocate: (bytes: number) => LibcMemory;
  readonly errno: () => number;
}

export interface WallTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

export interface LibcMemory {
  readonly view: DataView;
  readonly address: bigint;
  readonly free: () => void;
}

const CLOCK_REALTIME = 0;

/**
 * The functions of the libc that Node itself runs on. Undefined on systems whose structures are not those that are
 * written here: anything but 64-bit little-endian Linux.
 */
export function loadLibc(library: typeof koffi, platform: string, endianness: 'LE' | 'BE'): Libc | undefined {
  if (platform !== 'linux' || endianness !== 'LE' || library.sizeof('void *') !== 8) return undefined;
  const libc = library.load(null);
  const recvmsg = libc.func('intptr_t recvmsg(int descriptor, void *header, int flags)');
  const getsockopt = libc.func('int getsockopt(int descriptor, int level, int option, void *value, void *length)');
  const clockGettime = libc.func('int clock_gettime(int clock, void *time)');
  const time = Buffer.alloc(16);
  const [value, length] = [Buffer.alloc(4), Buffer.alloc(4)];
  const allocate = (bytes: number): LibcMemory => {
    const pointer: unknown = library.alloc('uint8_t', bytes);
    const view = new DataView(library.view(pointer, bytes));
    return { view, address: library.address(pointer), free: () => library.free(pointer) };
  };
  return {
    allocate,
    errno: () => library.errno(),
    recvmsg: (descriptor, header, flags) => Number(recvmsg(descriptor, header.address, flags)),
    intOption: (descriptor, level, option) => {
      length.writeInt32LE(4);
      return getsockopt(descriptor, level, option, value, length) === 0 ? value.readInt32LE() : undefined;
    },
    wallClock: () => {
      clockGettime(CLOCK_REALTIME, time);
      return { seconds: Number(time.readBigInt64LE(0)), nanoseconds: Number(time.readBigInt64LE(8)) };
    },
  };
}
