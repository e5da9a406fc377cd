import { once } from 'node:events';

import type { Figure } from '../goals.ts';
import { createLinkLab, evenPath } from '../links/lab.ts';
import { startProcess } from '../load/processes.ts';

const SERVICE = new URL('dispatch-worker.ts', import.meta.url);

/**
 * Runs `dispatch` over a link with a round trip of 50 ms between the agents and the service, each in a network
 * namespace.
 */
export async function dispatchOverLink(quick: boolean): Promise<readonly Figure[]> {
  const lab = await createLinkLab();
  try {
    const { address, rttMs } = evenPath;
    const link = JSON.stringify({ address, rttMs, inside: lab.inside('probe') });
    const service = startProcess(SERVICE, [link, quick ? 'quick' : 'whole'], {}, [], lab.inside('servers'));
    const ended = once(service, 'exit');
    const [figures] = (await Promise.race([
      once(service, 'message'),
      ended.then(() => Promise.reject(new Error('The service beyond the link ended without figures.'))),
    ])) as [readonly Figure[]];
    await ended;
    return figures;
  } finally {
    lab.remove();
  }
}
