import { failureCodes, failurePhases, failureSources, problemTypes } from '@vantage/contract';

import { GENERATED, markdownTable } from './markdown.ts';

export function failuresPage(): string {
  const codes = Object.entries(failureCodes).map(([code, sentence]) => [`\`${code}\``, sentence]);
  const problems = Object.entries(problemTypes).map(([type, { status, title, help }]) => [
    `\`${type}\``,
    String(status),
    title,
    help,
  ]);
  return `${GENERATED}

# Failures and problems

## Failures

A result other than \`success\` has an \`error\`: \`{ code, phase, source, message }\`. \`code\` is from the closed list below, \`phase\`
one of ${failurePhases.map((phase) => `\`${phase}\``).join(', ')}, and \`source\` one of ${failureSources.map((source) => `\`${source}\``).join(', ')}.
Fields measured before the failure stay in the result.

${markdownTable(['code', 'meaning'], codes)}

## Problem documents

Every error of the API is an RFC 9457 document; its \`type\` is \`<PUBLIC_URL>/problems/<type>\`.

${markdownTable(['type', 'status', 'title', 'remedy'], problems)}
`;
}
