import type { Summary } from '@vantage/contract';

import type { RequestFields } from './request.ts';
import { cellsOf } from './columns.ts';
import { measurementsOf } from './measurements.ts';
import { nameOfCheck } from './name.ts';
import type { CheckData, Result } from './use-check.ts';

/** curl commands that start the same check, if its request is known, and fetch the results of this one. */
export function asCurl(check: CheckData, publicUrl: string, request: unknown): string {
  const read = `curl -s ${quote(`${publicUrl}/check/${check.testId}/results`)}`;
  if (request === undefined) return read;
  const body = quote(JSON.stringify(request));
  return `curl -s ${quote(`${publicUrl}/check`)} -H 'Content-Type: application/json' -d ${body}\n${read}`;
}

/** Markdown of the badge, which links the check. */
export function asBadge(id: string, publicUrl: string): string {
  return `[![Verdict by Vantage](${publicUrl}/check/${id}/badge.svg)](${publicUrl}/c/${id})`;
}

/** HTML that frames the check. */
export function asEmbed(id: string, publicUrl: string): string {
  return `<iframe src="${publicUrl}/c/${id}/embed" title="Check by Vantage" width="640" height="320"></iframe>`;
}

/** Probes with their results. */
export type Rows = readonly (readonly [id: string, result: Result])[];

/**
 * Markdown for an incident channel or ticket: headline, findings, a row for each measurement, and balancing routers.
 *
 * @param received the newest summary; left out if it is older than the completed check
 * @param shown all rows, in their order
 */
export function asMarkdown(
  check: CheckData,
  received: Summary | undefined,
  publicUrl: string,
  asked: RequestFields = {},
  shown: Rows = Object.entries(check.results),
): string {
  const name = nameOfCheck(check.type, check.host, asked);
  const summary = check.status === 'completed' && received?.status !== 'completed' ? undefined : received;
  const heads = ['Probe', ...cellsOf(check.type, { result: 'pending' }).map(([title]) => title)];
  const rows = measurementsOf(shown).map(([probe, result]) => [
    probe,
    ...cellsOf(check.type, result).map(([, text]) => text),
  ]);
  const findings = (summary?.findings ?? []).map(({ severity, text }) => `- **${severity}**: ${plain(text)}`);
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [
    `**${plain(name.kind)}** ${target(name.target)}${name.details === '' ? '' : ` (${plain(name.details)})`}${summary === undefined ? '' : `: ${plain(summary.headline)}`}`,
    ...(findings.length === 0 ? [] : ['', ...findings]),
    '',
    line(heads),
    line(heads.map(() => '---')),
    ...rows.map(line),
    ...balancers(summary),
    '',
    `<${publicUrl}/c/${check.testId}> (${check.createdAt})`,
  ].join('\n');
}

/** A list of the routers that balance over several paths, after an empty line; no lines without such routers. */
function balancers({ paths }: Partial<Summary> = {}): readonly string[] {
  const lines = (paths?.nodes ?? []).flatMap(({ id, ip, hopMin, balances }) => {
    if (!balances) return [];
    const ways = paths!.edges.filter(({ from }) => from === id);
    const packets = ways.map(({ to, sent, received }) => {
      const next = paths!.nodes.find((node) => node.id === to)?.ip;
      return `${next ? plain(next) : 'no answer'} (${received} of ${sent} answered)`;
    });
    const how = balances === 'unknown' ? 'in a way that is not known' : `by ${balances}`;
    return [`- ${plain(ip ?? 'a private address')}, hop ${hopMin}, balances ${how} over ${packets.join(', ')}`];
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A URL as an autolink (CommonMark), unless it has something that would end it or be decoded; else plain text. */
function target(host: string): string {
  const isLink = /^https?:\/\/[^\s<>`]+$/.test(host) && !/&#?\w+;/.test(host);
  return isLink ? `<${host}>` : plain(host);
}

/** Markup characters, entities included; bullets, headings and rules have no meaning within a line. */
const MARKS = /[\\`*_[\]<>|~&$]/g;

/** Words that may become links without markup: URLs, mail addresses, mentions, issues. */
const LINKED = /:\/\/|^\W*www\.|@|#\d|^\W*GH-\d|\b(?:mailto|xmpp):/i;

/** Escapes untrusted text: no links, no markup. Escapes do not prevent linking of bare URLs; code spans do. */
function plain(text: string): string {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => (LINKED.test(word) ? code(word) : word.replace(MARKS, String.raw`\$&`)))
    .join(' ');
}

/** Escapes the text of a cell, which a vertical bar would end, even in code. */
function cell(text: string): string {
  return plain(text).replace(/(?<!\\)\|/g, String.raw`\|`);
}

/** A code span, delimited by more backticks than any run in the word. */
function code(word: string): string {
  const longest = Math.max(0, ...[...word.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${word}${fence}` : `${fence} ${word} ${fence}`;
}
