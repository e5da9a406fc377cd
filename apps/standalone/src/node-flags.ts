/**
 * Flags of Node for each program. They bound the young generation of the heap, in MiB: without a bound it grows to tens of
 * megabytes under load and stays. The packet process has its own.
 */
export const nodeFlags = {
  coordinator: ['--max-semi-space-size=4'],
  'probe-agent': ['--max-semi-space-size=2'],
} as const;
