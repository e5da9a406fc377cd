/**
 * Flags of Node for each program. They bound the young generation of the heap, in MiB: without a bound it grows to tens of
 * megabytes under load and stays. The old generation of an agent grows slowly too, for some CPU time: probes are small
 * machines. The packet process has its own flags.
 */
export const nodeFlags = {
  coordinator: ['--max-semi-space-size=4'],
  'probe-agent': ['--max-semi-space-size=2', '--optimize-for-size'],
} as const;
