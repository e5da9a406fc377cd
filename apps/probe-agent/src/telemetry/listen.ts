import { writeFile } from 'node:fs/promises';

import { serveMetrics, type MetricsServer } from '@vantage/telemetry';
import type { Logger } from 'pino';

import type { Config } from '../config/config.ts';

type Served = Pick<Parameters<typeof serveMetrics>[0], 'metrics' | 'missing'>;
type Where = Pick<Config, 'metricsHost' | 'metricsPort' | 'metricsPortFile'>;

/**
 * Opens the metrics port, or a free one if another process has it, such as a second agent on the network of this host:
 * a probe works without its metrics too.
 *
 * @throws the operating system's error if the host is unavailable
 */
export async function listen(where: Where, served: Served, log: Logger): Promise<MetricsServer> {
  const { metricsHost: host, metricsPort = 0, metricsPortFile } = where;
  const server = await serveMetrics({ host, port: metricsPort, ...served }).catch((error: unknown) => {
    if (!isTaken(error)) throw error;
    log.error({ host, metricsPort }, 'metrics port is taken: using a free one');
    return serveMetrics({ host, port: 0, ...served });
  });
  log.info({ host, metricsPort: server.port }, 'metrics server listening');
  if (metricsPortFile !== undefined) {
    await writeFile(metricsPortFile, String(server.port)).catch((error: unknown) =>
      log.warn({ err: error }, 'METRICS_PORT_FILE could not be written'),
    );
  }
  return server;
}

function isTaken(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && error.code === 'EADDRINUSE';
}
