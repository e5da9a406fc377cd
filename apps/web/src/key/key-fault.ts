import { ProblemError } from '@vantage/client';
import { API_KEY } from '@vantage/contract/api-key';

import { faultText } from '../faults.ts';

const NO_KEY =
  'This is not a whole API key; a key has vtg_, a prefix of 8 characters, _ and a secret of 43 characters.';

/** Why a text cannot be used as the API key; empty if it can. */
export async function keyFault(text: string, tryKey: (key: string) => Promise<void>): Promise<string> {
  // The service ignores some texts that are no key, as if none were given.
  return API_KEY.test(text) ? tryKey(text).then(() => '', refusalOf) : NO_KEY;
}

/**
 * Why a key is not accepted. Empty for 403 and 429: a key without the scope to read is valid, and a rate limit says
 * nothing about the key.
 */
function refusalOf(error: unknown): string {
  if (!(error instanceof ProblemError)) return faultText(error);
  return error.status === 403 || error.status === 429 ? '' : faultText(error);
}
