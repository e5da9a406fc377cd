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
  const line = (cells: readonly string[]): string => `| ${cells.map(plain).join(' | ')} |`;
  return [
    `**${check.type} ${plain(check.host)}**${summary === undefined ? '' : `: ${plain(summary.headline)}`}`,
    ...(findings.length === 0 ? [] : ['', ...findings]),
    '',
    line(heads),
    line(heads.map(() => '---')),
    ...rows.map(line),
    '',
    `${publicUrl}/c/${check.testId} (${check.createdAt})`,
  ].join('\n');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text that stays text in Markdown: what strangers wrote makes no links and no markup. */
function plain(text: string): string {
  return text.replace(/[\\`*_[\]<>|]/g, String.raw`\$&`).replace(/\s+/g, ' ');
}
