import { BlockList, isIPv6 } from 'node:net';

import type { Request } from 'express';

import { callerOf } from '../caller.ts';
import { HttpProblem } from '../problem.ts';

/** @returns the problem (403) if the client may not scrape, else undefined */
export type ScrapeAccess = (request: Request) => HttpProblem | undefined;

/**
 * Allows clients with a valid key or from the given networks.
 *
 * @param networks addresses and CIDRs whose clients need no key
 */
export function createScrapeAccess(networks: readonly string[]): ScrapeAccess {
  const allowed = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (length === undefined) allowed.addAddress(address, family);
    else allowed.addSubnet(address, Number(length), family);
  }
  return (request) => {
    const { address, key } = callerOf(request);
    if (key !== undefined || allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return undefined;
    const detail = 'Your address is in none of the networks that may scrape without a key.';
    return new HttpProblem('scrape-refused', detail);
  };
}
