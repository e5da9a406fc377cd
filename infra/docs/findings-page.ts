import { findingCodes, verdicts } from '@vantage/contract';
import { findingRules } from '@vantage/summary';

import { GENERATED, markdownTable } from './markdown.ts';

export function findingsPage(): string {
  const rows = Object.entries(findingCodes).map(([code, meaning]) => {
    const { severities, degrades, rule } = findingRules[code as keyof typeof findingRules];
    return [`\`${code}\``, meaning, severities.join(', '), degrades ? 'yes' : '', rule];
  });
  return `${GENERATED}

# Findings

The rules for the verdict and the findings of \`GET /check/:id/summary\`. [Summary](../summary.md) explains how they
are combined.

## Verdicts

${markdownTable(
  ['verdict', 'meaning'],
  Object.entries(verdicts).map(([verdict, meaning]) => [`\`${verdict}\``, meaning]),
)}

## Codes

The list is closed. Findings are sorted by severity, then in this order. One that degrades makes a target that all probes reach
\`degraded\`, unless it is \`info\`. Compared numbers are those of the results: milliseconds, bytes, days. “Many probes” are half of those that measured it,
and two at least.

${markdownTable(['code', 'meaning', 'severity', 'degrades', 'when'], rows)}
`;
}
