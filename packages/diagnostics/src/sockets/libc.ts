import { endianness } from 'node:os';

import type * as koffi from 'koffi';

import { requireFromDiagnostics } from '../native-packages.ts';

/** Calls of libc that raw-socket does not provide. */
export interface Libc {
  /** Bytes received, or -1 with `errno`. `header` is the memory of a struct msghdr. */
  readonly recvmsg: (descriptor: number, header: LibcMemory, flags: number) => number;
  /** The value of an integer option; undefined if the descriptor is no socket or lacks the option. */
  readonly intOption: (descriptor: number, level: number, option: number) => number | undefined;
  /** Sets an integer option; false if the kernel refuses. */
  readonly setIntOption: (descriptor: number, level: number, option: number, value: number) => boolean;
  /** Sets an option to the first bytes of a memory; false if the kernel refuses. */
  readonly setMemoryOption: (
    descriptor: number,
    level: number,
    option: number,
    value: LibcMemory,
    bytes: number,
  ) => boolean;
  /** The wall clock, CLOCK_REALTIME: the clock of the kernel's stamps. */
  readonly wallClock: () => WallTime;
  /** Memory at a fixed address, until it is freed. */
  readonly allocate: (bytes: number) => LibcMemory;
  readonly errno: () => number;
  /** Returns to the system what malloc keeps of freed memory, also below memory in use. Undefined without glibc. */
  readonly trim: (() => void) | undefined;
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
 * The functions of libc; undefined without koffi, which is an optional dependency, and on other systems than `loadLibc`
 * supports.
 */
export async function findLibc(): Promise<Libc | undefined> {
  try {
    const require = requireFromDiagnostics();
    return loadLibc(require('koffi') as typeof koffi, process.platform, endianness());
  } catch {
    return undefined;
  }
}

/** @returns a function that returns freed memory to the system; undefined without glibc, and where `findLibc` fails */
export async function loadMemoryRelease(): Promise<(() => void) | undefined> {
  return (await findLibc())?.trim;
}

/**
 * The functions of the libc that Node itself uses. Undefined on systems with other structure layouts than the one
 * declared here: 64-bit little-endian Linux.
 */
function loadLibc(library: typeof koffi, platform: string, order: 'LE' | 'BE'): Libc | undefined {
  if (platform !== 'linux' || order !== 'LE' || library.sizeof('void *') !== 8) return undefined;
  const libc = library.load(null);
  const recvmsg = libc.func('intptr_t recvmsg(int descriptor, void *header, int flags)');
  const getsockopt = libc.func('int getsockopt(int descriptor, int level, int option, void *value, void *length)');
  const setsockopt = libc.func('int setsockopt(int descriptor, int level, int option, void *value, uint32_t length)');
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
    trim: trimOf(libc),
    recvmsg: (descriptor, header, flags) => Number(recvmsg(descriptor, header.address, flags)),
    intOption: (descriptor, level, option) => {
      length.writeInt32LE(4);
      return getsockopt(descriptor, level, option, value, length) === 0 ? value.readInt32LE() : undefined;
    },
    setIntOption: (descriptor, level, option, wanted) => {
      value.writeInt32LE(wanted);
      return setsockopt(descriptor, level, option, value, 4) === 0;
    },
    setMemoryOption: (descriptor, level, option, { address }, bytes) =>
      setsockopt(descriptor, level, option, address, bytes) === 0,
    wallClock: () => {
      clockGettime(CLOCK_REALTIME, time);
      return { seconds: Number(time.readBigInt64LE(0)), nanoseconds: Number(time.readBigInt64LE(8)) };
    },
  };
}

/** `malloc_trim`; undefined with musl, which has no such function. */
function trimOf(libc: koffi.LibraryHandle): Libc['trim'] {
  try {
    const mallocTrim = libc.func('int malloc_trim(size_t keep)');
    return () => void mallocTrim(0);
  } catch {
    return undefined;
  }
}
