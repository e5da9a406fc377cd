import type { UnknownVariable } from '@vantage/settings';
import { compactHeap, openLog } from '@vantage/telemetry';
import type { Logger } from 'pino';

import { createAgent, ownVersion } from './agent.ts';
import type { Config } from './config/config.ts';
import { openIdentity, type Identity } from './enrolment/identity.ts';
import { openRuntime } from './runtime/open-runtime.ts';
import { openTelemetry } from './telemetry/telemetry.ts';

/**
 * Processes jobs until a signal ends the process.
 *
 * @param unknown variables to warn of
 */
export async function serve(config: Config, unknown: readonly UnknownVariable[]): Promise<void> {
  const opened = openLog({ level: config.logLevel, base: {} });
  for (const one of unknown) opened.log.warn(one, 'unknown variable');
  const identity = await identityOf(config, opened.log).catch((error: unknown) => {
    process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
    return process.exit(1);
  });
  const probe = identity?.probeId() ?? config.probeId ?? '';
  const log = opened.log.child({ probe });
  const telemetry = await openTelemetry(config, probe, ownVersion(), { ...opened, log }).catch((error: unknown) => {
    log.fatal({ err: error }, 'metrics server failed to start');
    return process.exit(1);
  });
  // An agent that can take no more jobs ends its process (`onHopeless`); the supervisor starts a new one.
  const agent = createAgent(config, log, openRuntime, { telemetry, identity, onHopeless: () => process.exit(1) });
  const asked = new Set<string>();

  /**
   * The same signal twice ends the process immediately. Two different ones do not: Ctrl-C may send SIGINT and, through
   * a supervisor, SIGTERM.
   */
  const stop = async (reason: string): Promise<void> => {
    if (asked.has(reason)) process.exit(1);
    asked.add(reason);
    if (asked.size > 1) return;
    log.info({ reason }, 'agent stopping');
    await agent.drain();
    await telemetry.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
  // With an IPC channel only: the parent process has exited or closed it.
  process.once('disconnect', () => void stop('disconnect'));

  // Before the start: a compaction later would delay a measurement.
  compactHeap('--optimize-for-size');
  try {
    await agent.start();
  } catch (error) {
    log.fatal({ err: error }, 'agent failed to start');
    process.exitCode = 1;
    await agent.close();
    process.exit();
  }
}

/**
 * The identity of an agent that connects to a gateway, with the key that its state folder keeps from its first start
 * on; undefined for an agent that connects to Redis.
 */
async function identityOf(
  { transport, stateFolder, vantageToken }: Config,
  log: Logger,
): Promise<Identity | undefined> {
  if (transport.kind === 'redis') return undefined;
  return openIdentity({ folder: stateFolder, url: transport.url, token: vantageToken, log });
}
