import { adminSettings, settings as coordinator } from '@vantage/coordinator';
import { settings as load } from '@vantage/load';
import { settings as probeAgent } from '@vantage/probe-agent';
import type { Settings } from '@vantage/settings';

import { GENERATED, table } from './markdown.ts';

export function settingsPage(): string {
  return `${GENERATED}

# Settings

Every setting is an environment variable. An app reads all of them at its start, lists every fault at once and does not
start with one. An empty variable counts as absent.

## Coordinator

${settingsTable(coordinator)}

## Probe agent

${settingsTable(probeAgent)}

## The operator's commands on probes

\`probe:add\` and its like, described in [agents](../agents.md).

${settingsTable(adminSettings)}

## Load generator

Of \`apps/load\`, described in [performance](../performance.md). Each is a flag too, which comes before the variable: \`LOAD_WARM_UP\` is
\`--warm-up\`.

${settingsTable(load)}
`;
}

function settingsTable(settings: Settings): string {
  const rows = Object.values(settings).map(({ env, kind, description, required, secret, ...rest }) => {
    const standard = rest.default === undefined || rest.default === '' ? '' : `\`${rest.default}\``;
    return [
      `\`${env}\``,
      kind.name,
      required === true ? 'required' : standard,
      secret === true ? `${description} Never printed.` : description,
    ];
  });
  return table(['variable', 'value', 'default', 'meaning'], rows);
}
