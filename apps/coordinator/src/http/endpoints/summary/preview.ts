import { isCheckId } from '@vantage/contract';
import { inTime } from '@vantage/timers';
import type { Preview } from '@vantage/web';
import type { Request, Response } from 'express';

import { CheckEvicted, StoreUnavailable } from '../../../redis/store-errors.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem } from '../../problem.ts';
import { removedCheck, checkTexts, unknownCheck, type CheckTexts } from '../../sharing/check-texts.ts';
import type { ReadPreview } from '../web-page.ts';
import { readSummary, type SummarySources } from './read-summary.ts';

/** Longest time to read the texts of a preview; after it the document is sent without them. */
const WITHIN_MS = 1_000;

/**
 * Name, verdict and headline of a check, for programs that show a preview of a link. Undefined if they cannot be read
 * in time. A request with `Sec-Fetch-Dest: document`, which browsers send, and a client over its limit get none, and
 * the store is not read.
 */
export function previewReader(options: SummarySources & { readonly limit: Limit }): ReadPreview {
  const read = async (request: Request, response: Response, id: string): Promise<CheckTexts> => {
    await options.limit(request, response);
    const reading = await readSummary(options, id);
    return reading === undefined ? unknownCheck : checkTexts(reading.check, reading.summary);
  };
  return async (request, response, id) => {
    if (!isCheckId(id) || request.headers['sec-fetch-dest'] === 'document') return undefined;
    try {
      const late = (): StoreUnavailable => new StoreUnavailable('the check of a preview was not read in time');
      return textsOf(await inTime(read(request, response, id), WITHIN_MS, late));
    } catch (error) {
      if (error instanceof CheckEvicted) return textsOf(removedCheck(error.message));
      if (error instanceof HttpProblem || error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  };
}

function textsOf({ name, word, headline }: CheckTexts): Preview {
  return { title: `${name}: ${word}`, description: headline };
}
