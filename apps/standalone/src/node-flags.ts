/**
 * Flags of Node for each program. They bound the semi-spaces of the young generation of the heap, in MiB, which would
 * grow under load and stay large. The flags of the old generation are set by `compactHeap`, and the packet process has
 * its own.
 */
export const nodeFlags = {
  coordinator: ['--max-semi-space-size=4'],
  'probe-agent': ['--max-semi-space-size=2'],
} as const;

/**
 * Settings of glibc's malloc: one arena for all threads, and blocks of 128 KiB or more, such as those in which the
 * validators of results are compiled, return to the system when they are freed.
 */
export const mallocSettings = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;
