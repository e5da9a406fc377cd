import type { AppOptions } from './app.ts';
import type { Config } from './config/config.ts';
import type { CoreOptions } from './core.ts';

/** Maps the configuration to options of the core. */
export function coreSettings(config: Config): Omit<CoreOptions, 'log' | 'lookUpPlace' | 'monitors'> {
  return {
    redisUrl: config.redisUrl,
    redisCertificates: config.redisCertificates,
    replicas: { count: config.redisReplicas, withinMs: config.redisReplicaMilliseconds },
    longestQueueMs: config.longestQueueMilliseconds,
    probeKeysMaxBytes: config.probeKeysMaxMiB * 1_048_576,
    screenshotsMaxBytes: config.screenshotsMaxMiB * 1_048_576,
    resultsMaxBytes: bytesOf(config.resultsMaxMiB),
    clientResultsMaxBytes: bytesOf(config.clientResultsMaxMiB),
    retentionSeconds: config.resultRetentionSeconds,
  };
}

type EdgeSettings = Pick<
  AppOptions,
  'retentionSeconds' | 'trustedProxies' | 'contacts' | 'streamBounds' | 'rateLimits' | 'targetLimits' | 'scrapeNetworks'
>;

/** Maps the configuration to options of the HTTP layer. */
export function edgeSettings(config: Config): EdgeSettings {
  return {
    retentionSeconds: config.resultRetentionSeconds,
    trustedProxies: config.trustedProxies,
    contacts: { probing: config.contact, security: config.securityContact ?? config.contact },
    streamBounds: { perClient: config.eventStreamsPerClient, total: config.eventStreams },
    rateLimits: {
      createCheck: config.rateLimitCreateCheck,
      readCheck: config.rateLimitReadCheck,
      followCheck: config.rateLimitFollowCheck,
      showScreenshot: config.rateLimitShowScreenshot,
      showSummary: config.rateLimitShowSummary,
      listProbes: config.rateLimitListProbes,
      readMonitors: config.rateLimitReadMonitors,
      showCaller: config.rateLimitShowCaller,
      scrape: config.rateLimitScrape,
    },
    scrapeNetworks: config.scrapeNetworks,
    targetLimits: {
      target: config.targetLimit,
      targetPorts: config.targetPortsLimit,
      clientTargets: config.clientTargetsLimit,
      costs: config.targetCosts,
    },
  };
}

function bytesOf(mebibytes: number | undefined): number | undefined {
  return mebibytes === undefined ? undefined : mebibytes * 1_048_576;
}
