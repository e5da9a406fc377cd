import { createNotifier, failureResult, probeFailure, type Notifier } from '@vantage/agent-loop';
import {
  BARE_NOTIFICATION,
  checkOfScreenshotJob,
  encodeNotification,
  isCheckId,
  redisKeys,
  type InlineResult,
  type ResultEntry,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../../redis/store.ts';

export interface GatewayEntry extends ResultEntry {
  readonly traceparent?: string | undefined;
}

/** Writes the result stream of one probe, and its notifications. */
export interface ResultStream {
  /** @throws StoreUnavailable, or the error reply of Redis */
  readonly append: (entry: GatewayEntry) => Promise<void>;
  /** Writes a failure as the result of a job whose agent is gone; nothing for an id that is no job id. */
  readonly interrupt: (jobId: string, now: number) => Promise<void>;
  readonly close: () => void;
}

export interface ResultStreamOptions {
  readonly redis: Redis;
  /** Separate connection for screenshots: a small result would wait behind a large one. */
  readonly screenshots: Redis;
  readonly probe: string;
}

export function openResultStream({ redis, screenshots, probe }: ResultStreamOptions): ResultStream {
  const stream = redisKeys.results(probe);
  const channel = redisKeys.resultNotification(probe);
  const publish = (on: Redis, text: string): void => void on.publish(channel, text).catch(() => undefined);
  const notifier: Notifier<InlineResult> = createNotifier((final) =>
    publish(redis, final === undefined ? BARE_NOTIFICATION : encodeNotification(final)),
  );

  const append: ResultStream['append'] = async ({ check, kind, data, png, traceparent }) => {
    const on = png === undefined ? redis : screenshots;
    const fields: (string | Buffer)[] = ['check', check, 'kind', kind, 'data', data];
    if (png !== undefined) fields.push('png', Buffer.from(png.buffer, png.byteOffset, png.byteLength));
    if (traceparent !== undefined) fields.push('traceparent', traceparent);
    await onStore(on, (ready) => {
      const written = ready.xadd(stream, '*', ...fields);
      // Sent after the entry on the same connection, so that the reader of the notification finds the entry.
      if (on === redis) notifier.raise(kind === 'final' ? { check, data, traceparent } : undefined);
      else publish(on, BARE_NOTIFICATION);
      return written;
    });
  };
  return {
    append,
    interrupt: async (jobId, now) => {
      const checkOfScreenshot = checkOfScreenshotJob(jobId);
      const failure = probeFailure('probe_interrupted');
      if (checkOfScreenshot !== undefined && isCheckId(checkOfScreenshot)) {
        await append({ check: checkOfScreenshot, kind: 'screenshot', data: JSON.stringify({ failure }) });
      } else if (isCheckId(jobId)) {
        const data = failureResult(failure, null, new Date(now).toISOString());
        await append({ check: jobId, kind: 'final', data });
      }
    },
    close: () => {
      notifier.flush();
      notifier.close();
    },
  };
}
