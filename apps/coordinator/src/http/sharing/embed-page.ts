import { createHash } from 'node:crypto';

import { isFinal, saysNothing, type Probes } from '@vantage/contract';

import type { Links } from '../links.ts';
import { html, type Html } from '../pages/html.ts';
import type { CheckTexts } from './check-texts.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#10181d, #e9eff2); --dim: light-dark(#55636d, #94a4ae); --line: light-dark(#e2e7ea, #212b31); --good: light-dark(#0a7548, #3fd79a); --warn: light-dark(#8a5800, #f0b64b); --bad: light-dark(#b3261e, #ff8f86); }
* { box-sizing: border-box; }
body { margin: 0; padding: 0.75rem 1rem; color: var(--ink); background: light-dark(#fff, #0c1013); font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
h1 { font-size: 1rem; font-weight: 600; margin: 0; unicode-bidi: isolate; direction: ltr; }
p { margin: 0.25rem 0; }
a { color: light-dark(#0b62c4, #6db4ff); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .neutral { color: var(--dim); }
.word { font-weight: 650; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0; border-top: 1px solid var(--line); }
th { font-weight: 400; overflow-wrap: anywhere; } td:last-child { text-align: right; padding-right: 0; white-space: nowrap; }
footer { color: var(--dim); font-size: 0.85rem; }
`;

/** Content-Security-Policy: any page may embed the frame, which has one inline style sheet and loads nothing. */
const POLICY = [
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'; form-action 'none'; frame-ancestors *",
].join('; ');

export const EMBED_HEADERS = { 'Content-Security-Policy': POLICY, 'X-Robots-Tag': 'noindex' };

/** Renders a check for an iframe: verdict, headline, and a row per probe, failed ones first. */
export function embedPage(links: Links, { check, name, word, tone, headline }: CheckTexts, probes: Probes): Buffer {
  const rows = Object.entries(check?.results ?? {}).map(([probe, result]) => ({ probe, result, ...outcomeOf(result) }));
  rows.sort((one, other) => one.order - other.order || one.probe.localeCompare(other.probe, 'en', { numeric: true }));
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${`${name}: ${word}`}</title>
        ${{ markup: `<style>${STYLE}</style>` }}
      </head>
      <body>
        <main>
          <h1>${name}</h1>
          <p><span class="word ${tone}">${word}</span> ${headline}</p>
          ${rows.length === 0 ? undefined : tableOf(rows, probes)}
        </main>
        <footer>${check === undefined ? 'Vantage' : linkOf(links, check)}</footer>
      </body>
    </html> `;
  return Buffer.from(markup);
}

interface Row {
  readonly probe: string;
  readonly result: Readonly<Record<string, unknown>>;
  readonly outcome: string;
  readonly tone: string;
}

function tableOf(rows: readonly Row[], probes: Probes): Html {
  return html`<table>
    <tbody>
      ${rows.map(({ probe, result, outcome, tone }) => {
        const place = Object.hasOwn(probes, probe) ? probes[probe] : undefined;
        const { rt } = result;
        return html`<tr>
          <th scope="row">
            ${place === undefined ? probe : `${place.city ?? place.datacenter}, ${place.countryCode} (${probe})`}
          </th>
          <td class="${tone}">${outcome}</td>
          <td>${typeof rt === 'number' ? `${Number(rt.toPrecision(3))} ms` : ''}</td>
        </tr> `;
      })}
    </tbody>
  </table>`;
}

function outcomeOf(result: Readonly<Record<string, unknown>>): { outcome: string; tone: string; order: number } {
  const outcome = typeof result['result'] === 'string' ? result['result'] : '';
  if (!isFinal(result)) return { outcome: 'pending', tone: 'neutral', order: 3 };
  if (outcome === 'success') return { outcome, tone: 'good', order: 4 };
  if (outcome === 'error') return { outcome: 'not measured', tone: 'neutral', order: 2 };
  const error = (result['error'] ?? {}) as { readonly code?: unknown };
  const { code } = error;
  const words = typeof code === 'string' ? code.replaceAll('_', ' ') : outcome;
  if (saysNothing(error)) return { outcome: words, tone: 'neutral', order: 2 };
  return outcome === 'timeout' ? { outcome: words, tone: 'warn', order: 1 } : { outcome: words, tone: 'bad', order: 0 };
}

function linkOf(links: Links, { testId, createdAt }: NonNullable<CheckTexts['check']>): Html {
  return html`<a href="${links.path(`/c/${testId}`)}" target="_blank" rel="noopener noreferrer">All results</a>,
    <time datetime="${createdAt}">${createdAt.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
