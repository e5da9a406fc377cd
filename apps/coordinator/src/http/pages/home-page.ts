import type { AnyCheckType } from '@vantage/contract';

import type { Links } from '../links.ts';
import { html, inline } from './html.ts';
import type { Page } from './page.ts';

/** The start page if the web page has not been built. */
export function homePage(links: Links, checkTypes: readonly AnyCheckType[]): Page {
  const request = `curl -si ${links.publicUrl}/check -H 'Content-Type: application/json' -d '{"type":"ping","host":"example.com"}'`;
  const body = html`<main class="narrow">
    <h1>Vantage</h1>
    <p class="lead">
      Network diagnostics from several places at once: start one check, read the outcome of each probe.
    </p>
    <pre tabindex="0" role="group" aria-label="A request"><code>${request}
curl -s '${links.publicUrl}/check/&lt;checkId&gt;/results?wait=25'</code></pre>
    <table>
      <tbody>
        ${checkTypes.map(
          ({ type, summary }) =>
            html`<tr>
              <th scope="row"><code>${type}</code></th>
              <td>${inline(summary)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p>
      <a href="${links.path('/docs')}">API reference</a> · <a href="${links.path('/probes')}">the probes</a> ·
      <a href="${links.path('/me')}">your own address</a>
    </p>
  </main>`;
  return { title: 'Vantage: network diagnostics from several places', body };
}
