import type { Page, PageAnswer, PageRequest, Preview } from '@vantage/web';
import type { Request, RequestHandler, Response } from 'express';

import type { Endpoint } from './endpoint.ts';

/** Texts for the preview of a link to a check; undefined if they are not needed or cannot be read. */
export type ReadPreview = (request: Request, response: Response, checkId: string) => Promise<Preview | undefined>;

/** The web page: its files, and one document for all views, whose script shows the view of the path. */
export function webPage(page: Page, readPreview: ReadPreview): readonly Endpoint[] {
  const view = (path: string, headers: Readonly<Record<string, string>> = {}): Endpoint => ({
    path,
    method: 'GET',
    answer: (request, response) => {
      response.set(headers);
      send(response, page.document(asked(request)));
    },
  });
  return [
    view('/'),
    view('/status'),
    view('/m'),
    view('/m/:name'),
    // A check is for those who have its link, not for search engines.
    {
      path: '/c/:id',
      method: 'GET',
      answer: async (request, response) => {
        const { id = '' } = request.params as { readonly id?: string };
        const preview = await readPreview(request, response, id);
        response.set('X-Robots-Tag', 'noindex');
        send(response, page.document(asked(request), id, preview));
      },
    },
    // A preview shows a single check, so a comparison has none.
    view('/c/:id/compare/:other', { 'X-Robots-Tag': 'noindex' }),
    ...page.files.map((path): Endpoint => ({
      path,
      method: 'GET',
      answer: (request, response) => send(response, page.file(path, asked(request))),
    })),
  ];
}

/** Answers requests for HTML on unknown paths with the page, which displays "not found"; status 404. */
export function showNothing(page: Page): RequestHandler {
  return (request, response, next) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD';
    if (!isPage || !/\btext\/html\b/i.test(request.headers.accept ?? '')) return next();
    const { headers, body } = page.document({ ...asked(request), ifNoneMatch: undefined });
    response
      .status(404)
      .set({ ...headers, 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Encoding' })
      .send(body);
  };
}

function asked({ headers }: Request): PageRequest {
  const encodings = headers['accept-encoding'];
  return {
    acceptEncoding: Array.isArray(encodings) ? encodings.join(', ') : encodings,
    ifNoneMatch: headers['if-none-match'],
  };
}

function send(response: Response, { status, headers, body }: PageAnswer): void {
  response.status(status).set(headers);
  if (status === 304) response.end();
  else response.send(body);
}
