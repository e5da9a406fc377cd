import type { Request, Response } from 'express';

import { CheckEvicted } from '../../../redis/store-errors.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import type { Links } from '../../links.ts';
import { badge } from '../../sharing/badge.ts';
import { card } from '../../sharing/card/card.ts';
import { EMBED_HEADERS, embedPage } from '../../sharing/embed-page.ts';
import { removedCheck, checkTexts, unknownCheck, type CheckTexts } from '../../sharing/check-texts.ts';
import { untilGone } from '../../until-gone.ts';
import type { Endpoint } from '../endpoint.ts';
import { readSummary, type SummaryReading, type SummarySources } from './read-summary.ts';
import { sendTagged, sendText } from '../send-json.ts';

export interface SharingOptions extends SummarySources {
  readonly links: Links;
  readonly limit: Limit;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

/** Longest wait for a pending check before its image is drawn: fetchers of link previews have short timeouts. */
const CARD_WAIT_MS = 4_000;

/** Reload interval of a frame while its check is pending. */
const REFRESH_SECONDS = 10;

/**
 * Representations for other pages: `GET /check/:id/badge.svg`, `/check/:id/card.png`, `/c/:id/embed`. They state that
 * a check is unknown or was evicted, with status 404 or 410.
 */
export function showShared(options: SharingOptions): readonly Endpoint[] {
  const { links } = options;
  return [
    shared('/check/:id/badge.svg', options, async (request, response, { shown: texts }) =>
      sendText(request, response, 'image/svg+xml', Buffer.from(badge(texts))),
    ),
    shared(
      '/check/:id/card.png',
      options,
      async (request, response, { shown }) => {
        const image = await card(shown);
        if (!response.headersSent) sendTagged(request, response, 'image/png', image);
      },
      CARD_WAIT_MS,
    ),
    shared('/c/:id/embed', options, async (request, response, { shown, reading }) => {
      response.set(EMBED_HEADERS);
      if (reading?.check.status === 'pending') response.set('Refresh', String(REFRESH_SECONDS));
      await sendText(request, response, 'text/html; charset=utf-8', embedPage(links, shown, reading?.probes ?? {}));
    }),
  ];
}

interface Shared {
  readonly shown: CheckTexts;
  readonly reading: SummaryReading | undefined;
}

function shared(
  path: string,
  options: SharingOptions,
  send: (request: Request, response: Response, shared: Shared) => Promise<void>,
  waitMs = 0,
): Endpoint {
  return {
    path,
    method: 'GET',
    scope: 'read',
    limit: options.limit,
    holdMs: () => waitMs,
    answer: async (request, response) => {
      const { id = '' } = request.params as { readonly id?: string };
      response.set('X-Robots-Tag', 'noindex');
      try {
        const signal = untilGone(response, options.stopping);
        const reading = await readSummary(options, id, { waitMs, signal });
        // A 503 may have been sent meanwhile.
        if (response.headersSent) return;
        response.status(reading === undefined ? 404 : 200).set('Cache-Control', reading?.cacheControl ?? 'no-store');
        const shown = reading === undefined ? unknownCheck : checkTexts(reading.check, reading.summary);
        await send(request, response, { shown, reading });
      } catch (error) {
        if (!(error instanceof CheckEvicted)) throw error;
        response.status(410).set('Cache-Control', 'no-store');
        await send(request, response, { shown: removedCheck(error.message), reading: undefined });
      }
    },
  };
}
