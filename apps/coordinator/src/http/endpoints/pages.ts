import type { AnyCheckType } from '@vantage/contract';
import type { Page as WebPage } from '@vantage/web';

import { isProblemType, type Links } from '../links.ts';
import type { JsonObject } from '../openapi/json.ts';
import { docsPage } from '../pages/docs-page.ts';
import { homePage } from '../pages/home-page.ts';
import { PAGE_HEADERS, renderPage, STYLE_PATH, type Page } from '../pages/page.ts';
import { problemPage } from '../pages/problem-page.ts';
import { styleSheet } from '../pages/style.ts';
import { HttpProblem } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';
import { keepCompressed } from './compression.ts';
import { sendText } from './send-json.ts';
import { webPage, type ReadPreview } from './web-page.ts';

export interface Documentation {
  /** The web page; undefined if it has not been built. */
  readonly web: WebPage | undefined;
  readonly readPreview: ReadPreview;
  readonly document: () => JsonObject;
  readonly links: Links;
  readonly checkTypes: readonly AnyCheckType[];
}

/**
 * HTML pages, their style sheet, robots.txt and the OpenAPI document. None is made before its first request, to save
 * memory and time at the start; the pages of problems are made at each request.
 */
export function documentation({ web, readPreview, document, links, checkTypes }: Documentation): readonly Endpoint[] {
  const font = fontOf(web, links);
  const page = (path: string, content: () => Page): Endpoint =>
    text(path, HTML, PAGE_HEADERS, () => renderPage(links, content(), font));
  return [
    // Without a built web page, a page with examples of the API takes its place.
    ...(web === undefined ? [page('/', () => homePage(links, checkTypes))] : webPage(web, readPreview)),
    page('/docs', () => docsPage(document(), links)),
    {
      path: '/problems/:type',
      method: 'GET',
      answer: (request, response) => {
        const { type = '' } = request.params as { readonly type?: string };
        if (!isProblemType(type)) throw new HttpProblem('not-found', 'There is no problem of this type.');
        response.set(PAGE_HEADERS);
        return sendText(request, response, HTML, renderPage(links, problemPage(links, type), font));
      },
    },
    text(STYLE_PATH, 'text/css; charset=utf-8', { 'Cache-Control': 'public, max-age=300' }, () =>
      Buffer.from(styleSheet(font)),
    ),
    text('/robots.txt', 'text/plain; charset=utf-8', { 'Cache-Control': 'public, max-age=3600' }, () =>
      Buffer.from(ROBOTS),
    ),
    text('/openapi.json', JSON_TYPE, { 'Cache-Control': 'no-cache' }, () => Buffer.from(JSON.stringify(document()))),
  ];
}

/** Time for a response of a static text, which may take seconds to make and compress on a busy machine. */
const MADE_WITHIN_MS = 30_000;

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * robots.txt: crawlers should not start checks by scrapes, follow streams or read results. `card.png` of a check is
 * allowed, because link previews need it.
 */
const ROBOTS = `User-agent: *
Disallow: /probe?
Disallow: /check/*/events
Disallow: /check/*/results
Disallow: /monitors/*/events
`;

/**
 * Path of the web page's font with the letters that English needs; other letters come from fonts of the system.
 * Undefined without such a file.
 */
function fontOf(web: WebPage | undefined, links: Links): string | undefined {
  const file = web?.files.find((path) => /^\/assets\/geist-(?!more)[^/]*\.woff2$/.test(path));
  return file === undefined ? undefined : links.path(file as `/${string}`);
}

/** A static text; it may take longer than other responses, because its first request makes and compresses it. */
function text(path: string, type: string, headers: Readonly<Record<string, string>>, make: () => Buffer): Endpoint {
  let made: { readonly bytes: Buffer; readonly compressed: ReturnType<typeof keepCompressed> } | undefined;
  return {
    path,
    method: 'GET',
    holdMs: () => MADE_WITHIN_MS,
    answer: (request, response) => {
      if (made === undefined) {
        const bytes = make();
        made = { bytes, compressed: keepCompressed(bytes) };
      }
      response.set(headers);
      return sendText(request, response, type, made.bytes, made.compressed);
    },
  };
}
