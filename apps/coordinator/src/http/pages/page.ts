import type { Response } from 'express';

import type { Links } from '../links.ts';
import { html, type Html } from './html.ts';

/** Only the page's own style sheet; no script, no picture, no form, no frame. */
const PAGE_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface Page {
  readonly title: string;
  readonly body: Html;
}

export function sendPage(response: Response, links: Links, { title, body }: Page): void {
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="${links.path(STYLE_PATH)}" />
      </head>
      <body>
        <header class="top">
          <a class="brand" href="${links.path('/')}">Vantage</a>
          <nav>
            <a href="${links.path('/docs')}">API reference</a>
            <a href="${links.path('/openapi.json')}">OpenAPI</a>
            <a href="${links.path('/probes')}">Probes</a>
          </nav>
        </header>
        ${body}
      </body>
    </html> `;
  response
    .set({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': PAGE_POLICY,
      'Cache-Control': 'no-cache',
    })
    .send(markup);
}

export const STYLE_PATH = '/docs/style.css';
