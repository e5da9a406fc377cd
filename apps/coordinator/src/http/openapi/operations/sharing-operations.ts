import type { Bucket } from '../../limits/buckets.ts';
import { headers, problemAnswers } from '../answers.ts';
import { checkIdParameter, ifNoneMatch, keyOf, keyProblems, limitOf, notModified } from './parts.ts';
import type { JsonObject } from '../json.ts';

export function showBadgeOperation(bucket: Bucket): JsonObject {
  return sharedOperation(bucket, 'showBadge', 'image/svg+xml', {
    summary: 'The verdict of a check as a badge',
    description: 'An SVG of 20 pixels height with the name of the check and its verdict.',
  });
}

export function showCardOperation(bucket: Bucket): JsonObject {
  return sharedOperation(bucket, 'showCard', 'image/png', {
    summary: 'The verdict of a check as an image for previews',
    description:
      'A PNG of 1200 × 630 pixels with the name of the check, its verdict and headline; the Open Graph image of its page. While the ' +
      'check is pending the answer is held for up to four seconds.',
  });
}

export function showEmbedOperation(bucket: Bucket): JsonObject {
  return sharedOperation(bucket, 'showEmbed', 'text/html', {
    summary: 'A check as a page for frames',
    description:
      'Verdict, headline and a row per probe, without scripts. Other pages may frame it; no other page of the service can be framed. While ' +
      'the check is pending it loads itself again every ten seconds.',
  });
}

function sharedOperation(
  bucket: Bucket,
  operationId: string,
  mediaType: string,
  texts: { readonly summary: string; readonly description: string },
): JsonObject {
  const content = { [mediaType]: { schema: { type: 'string' } } };
  const absentContent = { [mediaType]: { schema: { type: 'string' }, example: `(${mediaType})` } };
  const absent = (description: string): JsonObject => ({
    description,
    headers: headers(true, ['Cache-Control']),
    content: absentContent,
  });
  return {
    operationId,
    tags: ['checks'],
    summary: texts.summary,
    description: `${texts.description} It makes the id public, and with it the results. Counts as a request to GET /check/:id/summary.`,
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [checkIdParameter, ifNoneMatch],
    responses: {
      '200': {
        description: 'As described. `Cache-Control` is `no-store` while the check is pending.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content,
      },
      '304': notModified,
      '404': absent('The same with the words “not found”.'),
      '410': absent('The same with the word “removed”: the results were removed before their time.'),
      ...problemAnswers(['invalid-http', ...keyProblems, 'rate-limited', 'internal-error', 'unavailable'], true),
    },
  };
}
