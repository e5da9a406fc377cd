import { checkTypes } from '@vantage/diagnostics/contract';
import type { Geo } from '@vantage/geo';
import {
  createAdmission,
  createNameLookup,
  createNameResolver,
  createOwnAddresses,
  isPrivateAddress,
  evaluateTarget,
  type NameResolver,
  type TargetPolicy,
} from '@vantage/target-policy';
import type { Logger } from 'pino';

import { createApp } from './app.ts';
import type { Config } from './config/config.ts';
import { createCore, missing, type Core } from './core.ts';
import { createMonitorReader } from './http/requests/read-monitor.ts';
import type { createKeyPolicies } from './keys/key-policies.ts';
import { moduleWarnings, type Modules } from './modules/follow-modules.ts';
import { createSendWebhook, type SendWebhook } from './monitors/webhooks/send-webhook.ts';
import { coreSettings, edgeSettings } from './service-settings.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** What a coordinator opens before its connections to Redis. */
export interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly policyFor: ReturnType<typeof createKeyPolicies>;
  /** Looks up the host name of a client's address. */
  readonly resolver: NameResolver;
  readonly modules: Modules;
  readonly geo: Geo;
  readonly version: string;
  readonly telemetry: Telemetry;
}

export function openCore({ config, log, policyFor, geo, telemetry }: Parts): Core {
  return createCore({
    tracing: telemetry.tracing,
    metrics: telemetry.metrics,
    ...coreSettings(config),
    log,
    lookUpPlace: geo.lookUp,
    preparePlace: config.rdapBaseUrl === undefined ? undefined : geo.prepare,
    monitors: {
      readDefinition: createMonitorReader(
        Object.values(checkTypes),
        (target, allow) => evaluateTarget(target, policyFor(allow)),
        config.webhookSecrets !== undefined,
      ),
      sendWebhook: openWebhooks(config, policyFor()),
      file: config.monitorsFile,
      most: config.monitorsMax,
      observeStart: telemetry.monitorStarted,
    },
  });
}

export function openApp(
  { config, log, policyFor, resolver, modules, geo, version, telemetry }: Parts,
  core: Core,
  publicUrl: string,
  stopping: AbortSignal,
): ReturnType<typeof createApp> {
  const isGatewayOnly = config.gateway === 'only';
  return createApp({
    publicUrl,
    log,
    version,
    stopping,
    observers: telemetry.handlers,
    checks: core.checks,
    live: core.live,
    followers: core.followers,
    idempotencyStore: core.idempotencyStore,
    probes: core.probes,
    keys: core.keys,
    monitors: core.monitors,
    warnings: () => [
      ...(core.monitors.fileFault()?.split('\n') ?? []),
      ...moduleWarnings(modules),
      ...geoWarnings(geo),
    ],
    rateLimitRedis: core.rateLimitRedis,
    readiness: () => missing(core, isGatewayOnly),
    isGateway: config.gateway !== 'off',
    isGatewayOnly,
    modules,
    checkTypes: Object.values(checkTypes),
    evaluateTarget: (target, allow) => evaluateTarget(target, policyFor(allow)),
    lookUpPlace: geo.lookUp,
    names: createNameLookup({ resolver, showPrivateAddresses: false }),
    isPublicAddress: (address) => !isPrivateAddress(address),
    ...edgeSettings(config),
  });
}

/** One sentence for each source of geo data that is unusable or not up to date. */
function geoWarnings(geo: Pick<Geo, 'sources'>): readonly string[] {
  const faulty = geo.sources().filter(({ role, fault }) => role !== 'fallback' && fault !== null);
  return faulty.map(({ name, state, fault }) => `The geo data ${name} is ${state}: ${fault}.`);
}

/**
 * Receivers of webhooks are admitted like targets of checks; addresses of this machine are refused like those of an
 * agent.
 */
function openWebhooks({ webhookSecrets: secrets, dnsServers }: Config, policy: TargetPolicy): SendWebhook | undefined {
  if (secrets === undefined) return undefined;
  const admit = createAdmission({
    policy,
    resolver: createNameResolver({ servers: dnsServers }),
    redis: () => [],
    ownAddresses: createOwnAddresses({ resolvers: dnsServers }),
    haveIpv4: () => true,
    haveIpv6: () => true,
  });
  return createSendWebhook({ admit, secrets });
}
