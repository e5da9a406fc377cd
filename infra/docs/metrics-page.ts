import { coordinatorMetrics, coreEvents, monitorMetrics } from '@vantage/coordinator';
import { agentMetrics } from '@vantage/probe-agent';
import { processMetrics, type MetricDeclarations } from '@vantage/telemetry';

import { GENERATED, markdownTable } from './markdown.ts';

export function metricsPage(): string {
  return `${GENERATED}

# Metrics

With \`METRICS_PORT\` set, a process serves \`/metrics\` in the text format of Prometheus on \`METRICS_HOST\`, and also
\`/healthz\` (the process answers) and \`/readyz\` (503 with the reason while it cannot work). Labels have values from closed
lists, or identifiers of probes, never hosts, addresses or other data of clients and targets.

Usage: [operations](../operations.md).

## Coordinator

${metricsTable(coordinatorMetrics)}

Values of \`event\`: ${coreEvents()
    .map((event) => `\`${event}\``)
    .join(', ')}.

## Monitors

\`GET /metrics/monitors\` of the API, on the port of the service: the last result of every [monitor](../monitors.md) and
probe. Every coordinator serves all of them: scrape one.

${metricsTable(monitorMetrics)}

## Probe agent

${metricsTable(agentMetrics)}

## All processes

A selection of the Node.js metrics of \`prom-client\`:

${markdownTable(
  ['metric', 'meaning'],
  Object.entries(processMetrics).map(([name, meaning]) => [`\`${name}\``, meaning]),
)}
`;
}

function metricsTable(declared: MetricDeclarations): string {
  const rows = Object.values(declared).map(({ name, kind, help, labels = {}, buckets }) => [
    `\`${name}\``,
    kind,
    Object.entries(labels)
      .map(([label, values]) => `\`${label}\`: ${values}`)
      .join(' '),
    buckets === undefined ? help : `${help} Buckets up to ${buckets.at(-1)} s.`,
  ]);
  return markdownTable(['metric', 'kind', 'labels', 'meaning'], rows);
}
