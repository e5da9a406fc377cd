import { MAX_RESULT_BYTES } from '@vantage/contract';

import type { Hop } from './contract.ts';

/** Room for the other fields, and for the networks that the coordinator adds. */
const HOPS_BYTES = MAX_RESULT_BYTES * 0.75;

/** Takes names, then responders beyond the first, from the hops until they fit a result. Only many flows need it. */
export function fitHops(hops: readonly Hop[]): Hop[] {
  const whole = [...hops];
  if (fits(whole)) return whole;
  const nameless = whole.map((hop) => ({
    ...hop,
    responders: hop.responders.map((responder) => ({ ...responder, hostname: null })),
  }));
  if (fits(nameless)) return nameless;
  const most = Math.max(...hops.map(({ responders }) => responders.length));
  for (let kept = most - 1; kept > 0; kept -= 1) {
    const fewer = nameless.map((hop) => ({ ...hop, responders: hop.responders.slice(0, kept) }));
    if (fits(fewer)) return fewer;
  }
  return nameless.map((hop) => ({ ...hop, responders: [] }));
}

function fits(hops: readonly Hop[]): boolean {
  return Buffer.byteLength(JSON.stringify(hops)) <= HOPS_BYTES;
}
