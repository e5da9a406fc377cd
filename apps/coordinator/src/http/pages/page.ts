import type { Links } from '../links.ts';
import { html, type Html } from './html.ts';

/**
 * Allows style sheets, fonts and images of the service, but no script, form or frame. `connect-src` is for tools that
 * audit a page: they fetch robots.txt.
 */
const POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const PAGE_HEADERS = { 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' };

export interface Page {
  readonly title: string;
  readonly body: Html;
}

/**
 * Renders a complete HTML document.
 *
 * @param font path of the web page's font; undefined if the web page has not been built
 */
export function renderPage(links: Links, { title, body }: Page, font: string | undefined): Buffer {
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${title}: network diagnostics from several places at once" />
        <title>${title}</title>
        <link rel="icon" href="${links.path('/icon.svg')}" type="image/svg+xml" />
        ${font === undefined ? undefined : html`<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin />`}
        <link rel="stylesheet" href="${links.path(STYLE_PATH)}" />
      </head>
      <body>
        <header class="top">
          <a class="brand" href="${links.path('/')}"
            ><svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="8.5" />
              <path d="M7.5 9.5L16 24l8.5-14.5" />
              <circle cx="16" cy="10" r="3" />
            </svg>
            Vantage</a
          >
          <nav>
            <a href="${links.path('/docs')}">API reference</a>
            <a href="${links.path('/openapi.json')}">OpenAPI</a>
            <a href="${links.path('/probes')}">Probes</a>
          </nav>
        </header>
        ${body}
      </body>
    </html> `;
  return Buffer.from(markup);
}

export const STYLE_PATH = '/docs/style.css';
