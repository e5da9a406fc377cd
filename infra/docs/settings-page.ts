import { adminSettings, settings as coordinator } from '@vantage/coordinator';
import { settings as load } from '@vantage/load';
import { settings as probeAgent } from '@vantage/probe-agent';
import type { Settings } from '@vantage/settings';

import { GENERATED, markdownTable } from './markdown.ts';

export function settingsPage(): string {
  return `${GENERATED}

# Settings

Every setting is an environment variable. An app reads all of them at its start; if any is invalid, it lists all errors
and does not start. An empty variable counts as absent. A coordinator and an agent (not \`vantage-agent run\` or \`enrol\`) log a variable at
their start as \`unknown variable\`, without its value, if it is in capitals and close to a setting which is not set and has several words;
if a setting is invalid or missing, the error names it. Close is one letter or a swap of neighbours, from twelve letters on two.

## Coordinator

${settingsTable(coordinator)}

## Probe agent

${settingsTable(probeAgent)}

## Operator commands

\`probe:add\` and the others, described in [agents](../agents.md).

${settingsTable(adminSettings)}

## Load generator

Settings of \`apps/load\`, described in [performance](../performance.md). Each is also a flag, which takes precedence: \`LOAD_WARM_UP\` is
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
  return markdownTable(['variable', 'value', 'default', 'meaning'], rows);
}
