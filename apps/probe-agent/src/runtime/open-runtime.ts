import { tmpdir } from 'node:os';

import type { AnyCheckType } from '@vantage/contract';
import {
  createPacketSockets,
  createScreenshots,
  findBrowser,
  loadDiagnostic,
  loadMemoryRelease,
  loadReceiveWindow,
  type PacketProcess,
  type ScreenshotsOptions,
} from '@vantage/diagnostics';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';
import {
  createAdmission,
  createNameLookup,
  createNameResolver,
  createOwnAddresses,
  createSystemResolvers,
  createTargetPolicy,
  isPrivateAddress,
  evaluateTarget,
  withNat64Prefixes,
  type DiscoveredAddresses,
  type NameResolver,
  type TargetPolicy,
} from '@vantage/target-policy';
import type { Logger } from 'pino';

import type { RawSockets } from './capabilities.ts';
import type { MeasuringConfig } from '../config/config.ts';
import { usableFamilies } from './connectivity.ts';
import { countBytes, createNetworkLimit, limitNetworks } from './network-limit.ts';
import { redisEndpoints } from './redis-endpoints.ts';
import type { ProbeRuntime, TargetCheck } from './runtime.ts';
import { createScreenshotOffer, type ScreenshotOffer } from './screenshot-offer.ts';

/** Interval of privilege checks: capabilities of a process may change while it runs. */
const PRIVILEGE_POLL_INTERVAL_MS = 30_000;
/** Interval of privilege checks while the packet process does not run. */
const PROCESS_POLL_INTERVAL_MS = 1_000;
/** Interval at which the network is examined for a change, after which its NAT64 prefixes are discovered again. */
const NETWORK_POLL_INTERVAL_MS = 5_000;
/** Time after which a screenshot is charged to a network again: the typical load time of a page. */
const PICTURE_MS = 5_000;

/**
 * Opens the real runtime: target policy, resolvers, and the packet process.
 *
 * @param config without `redisUrl` if there is no Redis to protect
 * @throws if a host in `redisUrl` is neither a name nor an address, so that it could not be protected
 */
export async function openRuntime(
  config: MeasuringConfig & { readonly redisUrl?: string | undefined },
  log: Logger,
): Promise<ProbeRuntime> {
  const policy = policyOf(config);
  const redis = redisEndpoints(config.redisUrl);
  const resolver = createNameResolver({ servers: config.dnsServers });
  const { own, stop } = await watchOwnAddresses(config, resolver);
  const connectivity = (): ReturnType<ProbeRuntime['connectivity']> => usableFamilies(config.targetAllow, own());
  const admit = createAdmission({
    policy,
    resolver,
    ownAddresses: own,
    redis: redis.all,
    haveIpv4: () => connectivity().ipv4,
    haveIpv6: () => connectivity().ipv6,
  });
  const packets = createPacketSockets({
    execPath: config.packetProcessNode,
    onFailure: logPacketFailures(log),
  });
  const privilege = await watchPrivilege(packets);
  // A screenshot is charged to a network like a run every five seconds; its bytes are charged as they are transferred.
  const pictureLimit = createNetworkLimit(config.networkLimit);
  const screenshots = openScreenshots(
    config,
    { admit: limitNetworks(admit, pictureLimit, { againAfterMs: PICTURE_MS }), charge: countBytes(pictureLimit) },
    log,
  );

  return {
    loadDiagnostic: loadOnce(loadDiagnostic),
    checkTarget: createTargetCheck(policy),
    admit,
    names: createNameLookup({ resolver, showPrivateAddresses: config.showPrivateAddresses }),
    resolvers: config.dnsServers.length > 0 ? () => config.dnsServers : createSystemResolvers(),
    // Addresses in a range that the operator allows as target are not masked.
    isPrivateAddress: (address) =>
      isPrivateAddress(address) &&
      evaluateTarget({ hostKind: 'host', purpose: 'icmp', host: address }, policy).verdict !== 'accepted',
    packets: () => {
      const { ipv4, ipv6 } = privilege.now();
      return ipv4 === null || ipv6 === null ? packets : { unavailable: ipv4 };
    },
    packetProcess: packets.status,
    receiveWindow: await loadReceiveWindow(),
    releaseMemory: await loadMemoryRelease(),
    certificateAuthorities: config.certificates === undefined ? [] : [config.certificates],
    screenshots,
    rawSockets: privilege.now,
    connectivity,
    noteRedis: redis.note,
    close: async () => {
      stop();
      privilege.stop();
      await Promise.all([packets.close(), screenshots.close()]);
    },
  };
}

export function policyOf(config: MeasuringConfig): TargetPolicy {
  return createTargetPolicy({
    allow: config.targetAllow,
    dangerouslyAllowLinkLocalAndMetadata: config.targetAllowLinkLocal,
    allowNames: config.targetAllowNames,
    deny: config.targetDeny,
  });
}

/** The packet process is restarted repeatedly: of consecutive equal failures only the first is logged. */
function logPacketFailures(log: Logger): (error: Error) => void {
  let last = '';
  return ({ message, cause }) => {
    if (message !== last) log.warn({ reason: message, detail: cause }, 'packet process failed');
    last = message;
  };
}

/** Starts no browser: the agent starts the self-test once it takes jobs. */
function openScreenshots(
  config: MeasuringConfig,
  limits: Pick<ScreenshotsOptions, 'admit' | 'charge'>,
  log: Logger,
): ScreenshotOffer {
  const executablePath = config.browser ?? findBrowser(config.path);
  const note = (message: string, fields: Readonly<Record<string, unknown>>): void => log.debug(fields, message);
  const wanted = config.screenshots !== 'off';
  return createScreenshotOffer({
    wish: config.screenshots,
    screenshots: wanted ? createScreenshots({ executablePath, ...limits, tempFolder: tmpdir(), log: note }) : undefined,
    log,
  });
}

/** Caches imports: even importing a loaded module takes longer than most preparations of a run. */
function loadOnce(load: ProbeRuntime['loadDiagnostic']): ProbeRuntime['loadDiagnostic'] {
  const loaded = new Map<CheckTypeName, Awaited<ReturnType<typeof load>>>();
  return async (type) => {
    const known = loaded.get(type) ?? (await load(type));
    loaded.set(type, known);
    return known;
  };
}

/**
 * Target check of a job's parameters. Most targets are admitted again when resolved. The queried name of a dns check is
 * not, since its answers are only data; the check here keeps internal names from the operator's resolver.
 */
function createTargetCheck(policy: TargetPolicy): TargetCheck {
  return (type, params) => {
    const { hostKind, purpose }: AnyCheckType = checkTypes[type];
    const { host, port } = params as { readonly host: string; readonly port?: number };
    const judgement = evaluateTarget({ hostKind, purpose, host, port }, policy);
    return judgement.verdict === 'accepted' ? undefined : judgement.message;
  };
}

async function watchOwnAddresses(
  config: MeasuringConfig,
  resolver: NameResolver,
): Promise<{ readonly own: () => DiscoveredAddresses; readonly stop: () => void }> {
  const ownAddresses = createOwnAddresses({ resolvers: config.dnsServers, others: config.ownAddresses });
  const { ownAddresses: own, poll } = withNat64Prefixes({ resolver, ownAddresses });
  await poll();
  const timer = setInterval(() => void poll(), NETWORK_POLL_INTERVAL_MS);
  return { own, stop: () => clearInterval(timer) };
}

async function watchPrivilege(
  packets: PacketProcess,
): Promise<{ readonly now: () => RawSockets; readonly stop: () => void }> {
  let privilege = await packets.probePrivilege();
  let polledAt = performance.now();
  const poll = async (): Promise<void> => {
    const { pid, reason } = packets.status();
    const isMissing = pid === null && reason !== null;
    if (!isMissing && performance.now() - polledAt < PRIVILEGE_POLL_INTERVAL_MS) return;
    polledAt = performance.now();
    privilege = await packets.probePrivilege();
  };
  const timer = setInterval(() => void poll(), PROCESS_POLL_INTERVAL_MS);
  return { now: () => privilege, stop: () => clearInterval(timer) };
}
