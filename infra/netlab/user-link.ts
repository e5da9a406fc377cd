import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { LinkImpairments } from './impairments.ts';

/** The configuration of `link.py`. */
export interface LinkPlan {
  /** Names of the TUN devices to create. */
  readonly near: string;
  readonly far: string;
  /** Addresses from which the link sends ICMP errors, if the impairments make it a router. */
  readonly router: { readonly ipv4: string; readonly ipv6: string };
  readonly impairments: Readonly<Record<number, LinkImpairments>>;
}

/**
 * Starts the link, which ends with the standard input of its process.
 *
 * @param start starts a program in the namespace of the devices
 * @throws Error if it does not start, for example because the TUN device is missing
 */
export async function startUserLink(
  start: (program: string, ...args: readonly string[]) => ChildProcess,
  plan: LinkPlan,
): Promise<ChildProcess> {
  const child = start('python3', '-IB', fileURLToPath(new URL('link.py', import.meta.url)), JSON.stringify(plan));
  const isReady = once(child.stdout!, 'data').then(() => true);
  const hasEnded = once(child, 'exit').then(() => false);
  if (!(await Promise.race([isReady, hasEnded]))) throw new Error('The link in user space did not start.');
  return child;
}
