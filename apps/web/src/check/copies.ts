import type { Summary } from '@vantage/contract';

import { cellsOf } from './columns.ts';
import type { ShownCheck } from './use-check.ts';

/**
 * Commands that do the same again, or that read what came of it.
 *
 * @param request the body of the request, where this browser has sent it
 */
export function asCurl(check: ShownCheck, publicUrl: string, request: unknown): string {
  const read = `curl -s ${quote(`${publicUrl}/check/${check.testId}/results`)}`;
  if (request === undefined) return read;
  const body = quote(JSON.stringify(request));
  return `curl -s ${quote(`${publicUrl}/check`)} -H 'Content-Type: application/json' -d ${body}\n${read}`;
}

/** For an incident's channel or a ticket: the verdict, the findings, a row per probe. */
export function asMarkdown(check: ShownCheck, summary: Summary | undefined, publicUrl: string): string {
  const heads = ['Probe', ...cellsOf(check.type, { result: 'pending' }).map(([title]) => title)];
  const rows = Object.entries(check.results).map(([probe, result]) => [
    probe,
    ...cellsOf(check.type, result).map(([, text]) => text),
  ]);
  const findings = (summary?.findings ?? []).map(({ severity, text }) => `- **${severity}**: ${plain(text)}`);
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [
    `**${check.type}** ${target(check.host)}${summary === undefined ? '' : `: ${plain(summary.headline)}`}`,
    ...(findings.length === 0 ? [] : ['', ...findings]),
    '',
    line(heads),
    line(heads.map(() => '---')),
    ...rows.map(line),
    '',
    `<${publicUrl}/c/${check.testId}> (${check.createdAt})`,
  ].join('\n');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The URL that was checked is a link, written so that nothing in it is markup (CommonMark, "Autolinks"). */
function target(host: string): string {
  const isLink = /^https?:\/\/[^\s<>`]+$/.test(host) && !/&#?\w+;/.test(host);
  return isLink ? `<${host}>` : plain(host);
}

/** Characters that mark up text, entities included; a bullet, heading or rule is nothing within a line. */
const MARKS = /[\\`*_[\]<>|~&$]/g;

/** Words that GitHub makes links or mentions of, though they have no markup: URLs, mail addresses, names, issues. */
const LINKED = /:\/\/|^\W*www\.|@|#\d|^\W*GH-\d|\b(?:mailto|xmpp):/i;

/**
 * Text that stays text in Markdown: what strangers wrote makes no links and no markup. An escape does not keep a renderer
 * from linking a bare URL, code does.
 */
function plain(text: string): string {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => (LINKED.test(word) ? code(word) : word.replace(MARKS, String.raw`\$&`)))
    .join(' ');
}

/** In a table a bar ends the cell, in code too. */
function cell(text: string): string {
  return plain(text).replace(/(?<!\\)\|/g, String.raw`\|`);
}

/** A code span, in more backticks than it has in a row. */
function code(word: string): string {
  const longest = Math.max(0, ...[...word.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${word}${fence}` : `${fence} ${word} ${fence}`;
}
