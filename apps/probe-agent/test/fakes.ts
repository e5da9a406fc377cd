import type { Admission, AdmissionRequest, AnyCheckType } from '@vantage/contract';
import {
  loadDiagnostic,
  type Diagnostic,
  type DiagnosticContext,
  type Outcome,
  type ProbeContext,
} from '@vantage/diagnostics';
import { pino, type Logger } from 'pino';

import { readConfig, type Config } from '../src/config/config.ts';
import type { ProbeRuntime } from '../src/runtime/runtime.ts';
import { createScreenshotOffer } from '../src/runtime/screenshot-offer.ts';

export const silent: Logger = pino({ level: 'silent' });

/** A tcp diagnostic supplied by the test. */
export type FakeRun = (params: { readonly port: number }, context: DiagnosticContext) => Promise<Outcome<AnyCheckType>>;

/** A runtime that admits 127.0.0.1 only, with real diagnostics or a fake one. */
export function fakeRuntime(run?: FakeRun, overrides: Partial<ProbeRuntime> = {}): ProbeRuntime {
  return {
    loadDiagnostic: async (type) => {
      const diagnostic = await loadDiagnostic(type);
      return run === undefined ? diagnostic : { ...diagnostic, run: run as unknown as Diagnostic<AnyCheckType>['run'] };
    },
    checkTarget: () => undefined,
    admit: async (request) => admission(request),
    names: { reverse: async () => [], forward: async () => [] },
    resolvers: () => [],
    isPrivateAddress: () => false,
    packets: () => ({ unavailable: 'This test has no raw sockets.' }),
    certificateAuthorities: [],
    screenshots: createScreenshotOffer({ wish: 'off', screenshots: undefined, log: silent }),
    rawSockets: () => ({ ipv4: 'This test has no raw sockets.', ipv6: 'This test has no raw sockets.' }),
    connectivity: () => ({ ipv4: true, ipv6: false }),
    noteRedis: () => undefined,
    close: async () => undefined,
    ...overrides,
  };
}

export function fakeProbeContext(): ProbeContext {
  const { admit, names, isPrivateAddress, packets } = fakeRuntime();
  const attribution = { userAgent: 'Vantage/0', payloadTag: 'vantage' };
  return { admit, names, resolvers: [], isPrivateAddress, packets: packets(), showPrivateAddresses: true, attribution };
}

export function fakeConfig(
  probe: string,
  redisUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Config {
  return readConfig({ PROBE_ID: probe, REDIS_URL: redisUrl, ...environment });
}

/** Outcome of a tcp diagnostic for an open port. */
export function openPort(port: number): Outcome<AnyCheckType> {
  const attempts = [{ rt: 1, error: null }];
  return { result: 'success', rt: 1, resolvedIp: '127.0.0.1', error: null, state: 'open', port, attempts };
}

function admission({ host }: AdmissionRequest): Admission {
  if (host !== '127.0.0.1') {
    const failure = {
      code: 'target_refused_by_policy',
      phase: 'resolve',
      source: 'probe',
      message: 'Refused.',
    } as const;
    return { admitted: false, failure, addresses: [], resolveMs: 0 };
  }
  return { admitted: true, target: { host, address: host, family: 4, addresses: [host], resolveMs: 0 } };
}
