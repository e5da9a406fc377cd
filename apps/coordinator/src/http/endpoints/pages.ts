import type { AnyCheckType } from '@vantage/contract';
import { openPage } from '@vantage/web';

import { isProblemType, type Links } from '../links.ts';
import type { JsonObject } from '../openapi/schemas.ts';
import { docsPage } from '../pages/docs-page.ts';
import { homePage } from '../pages/home-page.ts';
import { sendPage, STYLE_PATH, type Page } from '../pages/page.ts';
import { problemPage } from '../pages/problem-page.ts';
import { styleSheet } from '../pages/style.ts';
import { HttpProblem } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';
import { webPage } from './web-page.ts';

/** The pages a person reads and the document a machine reads. */
export function documentation(
  document: JsonObject,
  links: Links,
  checkTypes: readonly AnyCheckType[],
): readonly Endpoint[] {
  const web = openPage(links.publicUrl);
  return [
    // Where the set-up has not built the page, its place says how to use the API.
    ...(web === undefined ? [page('/', links, homePage(links, checkTypes))] : webPage(web)),
    page('/docs', links, docsPage(document, links)),
    {
      path: '/problems/:type',
      method: 'GET',
      answer: (request, response) => {
        const { type = '' } = request.params as { readonly type?: string };
        if (!isProblemType(type)) throw new HttpProblem('not-found', 'There is no problem of this type.');
        sendPage(response, links, problemPage(links, type));
      },
    },
    {
      path: STYLE_PATH,
      method: 'GET',
      answer: (_request, response) => {
        response
          .set({ 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'public, max-age=300' })
          .send(styleSheet);
      },
    },
    {
      path: '/openapi.json',
      method: 'GET',
      answer: (request, response) => {
        response.set('Cache-Control', 'no-cache');
        sendJson(request, response, document);
      },
    },
  ];
}

function page(path: string, links: Links, content: Page): Endpoint {
  return { path, method: 'GET', answer: (_request, response) => sendPage(response, links, content) };
}
