import { MAX_LISTED_ADDRESSES, MAX_RESULT_ADDRESSES } from '@vantage/diagnostics/contract';

import type { ProbeResult, SparseResultOf } from './probe-result.ts';

/** True if the name may have more addresses than the result holds. */
export function isCutOff({ result }: ProbeResult): boolean {
  const { addresses = [], ip, url } = result as SparseResultOf<'info'> & Pick<SparseResultOf<'http'>, 'url'>;
  const isListing = ip !== undefined || url !== undefined;
  return addresses.length >= (isListing ? MAX_LISTED_ADDRESSES : MAX_RESULT_ADDRESSES);
}
