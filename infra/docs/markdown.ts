/** A Markdown table; in cells `|` is escaped, and a line break becomes a space. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const GENERATED = '<!-- Written by `npm run docs` from the code. Do not edit. -->';
