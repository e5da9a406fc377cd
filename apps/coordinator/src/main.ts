import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';

import { withoutSecrets } from '@vantage/contract';
import { loadMemoryRelease } from '@vantage/diagnostics/libc';
import { openGeo } from '@vantage/geo';
import { askResolversAgainSoon, SettingsError, withUnknownVariables } from '@vantage/settings';
import { createNameResolver } from '@vantage/target-policy';
import { compactHeap, describeError, openLog, type OpenLog } from '@vantage/telemetry';
import { within } from '@vantage/timers';
import type { Logger } from 'pino';

import { openApp, openCore, type Parts } from './compose.ts';
import { mistypedSettings, readConfig, type Config } from './config/config.ts';
import { isShortOfFiles, openFilesLimit } from './connection-bounds.ts';
import { unprocessedClient } from './http/limits/axes.ts';
import { unprocessedAddress } from './http/client-address.ts';
import { createKeyPolicies } from './keys/key-policies.ts';
import { followModules } from './modules/follow-modules.ts';
import { createQuestionFault } from './modules/question-fault.ts';
import { rejectAddress } from './port-fault.ts';
import { startServer } from './server.ts';
import { openTelemetry } from './telemetry/telemetry.ts';

/** Timeout of each DNS lookup for `GET /me`. */
const NAME_TIMEOUT_MS = 500;
/** Longest wait for Redis at the start; after it the server listens all the same, and reports not ready. */
const LISTENS_WITHIN_MS = 2_000;
/** Interval at which freed memory is returned to the system: malloc would keep a part of it. */
const RELEASE_MEMORY_EVERY_MS = 10_000;

async function run(config: Config, { log, dropped }: OpenLog): Promise<void> {
  // Invalid options must be rejected before any connection is opened.
  const policyFor = createKeyPolicies({
    allow: config.targetAllow,
    allowNames: config.targetAllowNames,
    deny: config.targetDeny,
  });
  const resolver = createNameResolver({ servers: config.dnsServers, timeoutMs: NAME_TIMEOUT_MS, tries: 1 });
  const modules = await followModules(config.modulesFile, log, { questionFault: createQuestionFault(policyFor()) });
  const { geoCityMmdb: cityMmdb, geoAsnMmdb: asnMmdb, geoIspMmdb: ispMmdb, rdapBaseUrl } = config;
  const geo = await openGeo({ cityMmdb, asnMmdb, ispMmdb, rdapBaseUrl, log });
  const version = readVersion();
  const telemetry = await openTelemetry(config, version, log);
  const parts: Parts = { config, log, policyFor, resolver, modules, geo, version, telemetry };
  const core = openCore(parts);
  // A proxy sends requests as soon as the port is open; the first ones should find Redis connected.
  await within(core.started, LISTENS_WITHIN_MS);
  const stopping = new AbortController();

  const behindProxies = config.trustedProxies !== undefined;
  let app: ReturnType<typeof openApp> | undefined;
  const clientOf = (request: IncomingMessage): string => (app ? unprocessedClient(app, core.keys, request) : '');
  const server = await startServer({ ...config, behindProxies, log, clientOf }, (publicUrl) => {
    app = openApp(parts, core, publicUrl, stopping.signal);
    return app;
  }).catch(rejectAddress('HOST, PORT'));
  const gateway = config.gateway !== 'off' ? core.openGateway(new URL(server.publicUrl).origin) : undefined;
  server.onAgent(
    gateway &&
      ((request, socket, head) => gateway.upgrade(request, socket, head, app && unprocessedAddress(app, request))),
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    modules.close();
    // New agents find the port closed, and the gateway closes the connections of the others.
    await Promise.all([server.close(), gateway?.close()]);
    await core.close();
    await telemetry.close();
    await geo.close();
  };
  // The handlers are installed before the log line and the message that the server listens: a signal may follow at
  // once.
  stopWhenTold(stop, log);
  core.announceUrl(server.publicUrl, config.publicUrl !== undefined);
  await telemetry.watch(core, modules, dropped).catch(rejectAddress('METRICS_HOST, METRICS_PORT'));
  const openFiles = openFilesLimit();
  if (isShortOfFiles(openFiles)) log.warn({ openFiles }, 'few open files allowed: fewer connections accepted');
  compactHeap('--heap-growing-percent=50');
  log.info({ port: server.port, publicUrl: server.publicUrl }, 'coordinator listening');
  process.send?.({ ready: true, port: server.port });
  await releaseMemoryFromNowOn();
}

async function releaseMemoryFromNowOn(): Promise<void> {
  const release = await loadMemoryRelease();
  if (release !== undefined) setInterval(release, RELEASE_MEMORY_EVERY_MS).unref();
}

function readVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('@vantage/coordinator/package.json') as { readonly version: string }).version;
}

function stopWhenTold(stop: () => Promise<void>, log: Logger): void {
  let stops = false;
  const stopOnce = (reason: string): void => {
    if (stops) return;
    stops = true;
    log.info({ reason }, 'coordinator stopping');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'coordinator shutdown failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopOnce(signal));
  // Only with an IPC channel: the parent process has exited or closed it.
  process.once('disconnect', () => stopOnce('disconnect'));
}

try {
  // Before the first lookup: the C library resolves the name of Redis with these options.
  askResolversAgainSoon(process.env);
  const config = readConfig(process.env);
  const opened = openLog({
    level: config.logLevel,
    serializers: { error: describeError },
    hooks: { streamWrite: withoutSecrets },
  });
  for (const unknown of mistypedSettings(process.env)) opened.log.warn(unknown, 'unknown variable');
  await run(config, opened);
} catch (error) {
  const message = Error.isError(error) ? error.message : String(error);
  const unknown = error instanceof SettingsError ? mistypedSettings(process.env) : [];
  process.stderr.write(`${withUnknownVariables(message, unknown)}\n`);
  process.exitCode = 1;
  // After a failed start, open connections would keep the process running.
  setImmediate(() => process.exit(1));
}
