import { EVENT_HEARTBEAT_MS } from '@vantage/contract';

import type { Bucket } from '../../limits/buckets.ts';
import { headers } from '../answers.ts';
import { checkIdParameter, checkProblemAnswers, eventStream, keyOf, lastEventParameter, limitOf } from './parts.ts';
import { refTo, type JsonObject } from '../json.ts';

const description = `Server-Sent Events, for \`EventSource\` or any client that reads lines. First a \`probe\` event for each
selected probe as it stands, then one whenever a probe has more to show or its final result, at most four a second for each, and at
the end one \`completed\` event with the whole check; then the stream ends.

The id of an event is a version that counts up per check, that of \`completed\` 1,000,000 above it. \`Last-Event-ID\` resumes: every probe whose state is newer is sent, and
states that are overtaken are not. A comment comes every ${EVENT_HEARTBEAT_MS / 1_000} seconds in which nothing else does. A
stream that ends without \`completed\` should be resumed, after the time in \`retry\`. The screenshot is never inline:
\`screenshotUrl\` says where it is.`;

export function followCheckOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'followCheck',
    tags: ['checks'],
    summary: 'Follow a check as it runs',
    description,
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [
      checkIdParameter,
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The id of the last event that was received; what is no number is ignored.',
        schema: { type: 'string' },
      },
      lastEventParameter,
    ],
    responses: {
      '200': {
        description: 'The events, in the `data` of each one line of JSON: `ProbeEvent` or `CompletedEvent`.',
        headers: headers(true, ['Cache-Control']),
        content: {
          'text/event-stream': eventStream({ probe: refTo('ProbeEvent'), completed: refTo('CompletedEvent') }),
        },
      },
      '204': {
        description: 'The check is completed and `Last-Event-ID` is that of its `completed` event: nothing will come.',
        headers: headers(true, ['Cache-Control']),
      },
      ...checkProblemAnswers('invalid-request', 'too-many-streams'),
    },
  };
}
