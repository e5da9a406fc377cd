import { problemTypes, type ProblemType } from '@vantage/contract';

import type { Links } from '../links.ts';
import { html, inline } from './html.ts';
import type { Page } from './page.ts';

/** The page behind the `type` URL of a problem document. */
export function problemPage(links: Links, type: ProblemType): Page {
  const { status, title, help } = problemTypes[type];
  const body = html`<main class="narrow">
    <p class="kicker">Problem type · HTTP ${status}</p>
    <h1>${title}</h1>
    <p class="lead">${inline(help)}</p>
    <dl>
      <dt>Type</dt>
      <dd><code>${links.problem(type)}</code></dd>
      <dt>Status</dt>
      <dd>${status}</dd>
    </dl>
    <p><a href="${links.path('/docs')}#problems">All problem types</a></p>
  </main>`;
  return { title: `${title} · Vantage`, body };
}
