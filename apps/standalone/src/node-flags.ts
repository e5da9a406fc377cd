/**
 * Flags of Node for each program. They bound the young generation of the heap, in MiB: without a bound it grows to tens
 * of megabytes under load and stays. The flags of the old generation are set by `compactHeap`, and the packet process
 * has its own.
 */
export const nodeFlags = {
  coordinator: ['--max-semi-space-size=4'],
  'probe-agent': ['--max-semi-space-size=2'],
} as const;

/**
 * Settings of glibc's malloc that return freed memory to the system from 128 KiB on. Otherwise the 20 MiB in which the
 * validators of results are compiled to machine code would stay allocated.
 */
export const mallocSettings = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;
