import { isIP } from 'node:net';

import type { Admission, AdmissionRequest, AnyCheckType, Family, ResultFieldsOf } from '@vantage/contract';

import { createContext, type DiagnosticContext } from '@vantage/diagnostics';

/** A diagnostic's context for tests on loopback, which records its calls. */
export interface TestContext<C extends AnyCheckType> extends DiagnosticContext<C> {
  /** Every requested admission, in order. */
  readonly admissions: readonly AdmissionRequest[];
  /** Every published partial state, in order. */
  readonly partials: readonly ResultFieldsOf<C>[];
}

export interface TestContextOptions<C extends AnyCheckType> extends Partial<DiagnosticContext<C>> {
  /**
   * Addresses by name, of which the first of the wanted family is used; `localhost` is 127.0.0.1 and ::1. Literals
   * resolve to themselves.
   */
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
  /** Hosts that the policy refuses. */
  readonly refused?: readonly string[];
  /** The deadline of the check from now, milliseconds; default 60,000. */
  readonly budgetMs?: number;
}

/**
 * Creates a `DiagnosticContext` that resolves only `localhost` and the given hosts, admits every address literal except
 * the refused ones, has no raw sockets, and whose deadline aborts its signal. Any part of the context can be
 * replaced.
 */
export function testContext<C extends AnyCheckType>(options: TestContextOptions<C> = {}): TestContext<C> {
  const { hosts = {}, refused = [], budgetMs = 60_000, ...overrides } = options;
  const admissions: AdmissionRequest[] = [];
  const partials: ResultFieldsOf<C>[] = [];
  const probeContext = {
    admit: async (request: AdmissionRequest, signal: AbortSignal) => {
      signal.throwIfAborted();
      admissions.push(request);
      return admission(request, { localhost: ['127.0.0.1', '::1'], ...hosts }, refused);
    },
    names: { reverse: async () => [], forward: async () => [] },
    resolvers: [],
    packets: { unavailable: 'This test has no raw sockets.' },
    showPrivateAddresses: true,
    isPrivateAddress: () => false,
    attribution: { userAgent: 'Vantage/0 (+https://vantage.example/probing)', payloadTag: 'vantage-test' },
  };
  const bounds = {
    budgetMs,
    signal: abortedAfter(budgetMs),
    emitPartial: (fields: ResultFieldsOf<C>) => void partials.push(fields),
  };
  return {
    ...createContext<C>(probeContext, bounds),
    ...overrides,
    admissions,
    partials,
  };
}

/** `AbortSignal.timeout` with the global `setTimeout`, which a test may have replaced. */
function abortedAfter(milliseconds: number): AbortSignal {
  const aborter = new AbortController();
  const timer = setTimeout(() => {
    aborter.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }, milliseconds);
  timer.unref();
  return aborter.signal;
}

function admission(
  { host, family }: AdmissionRequest,
  hosts: Readonly<Record<string, readonly string[]>>,
  refused: readonly string[],
): Admission {
  const phase = 'resolve';
  const literal = host.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(literal) === 0 ? (hosts[host] ?? []) : [literal];
  const no = (code: 'target_refused_by_policy' | 'dns_nxdomain' | 'dns_no_address', message: string): Admission => {
    const source = code === 'target_refused_by_policy' ? 'probe' : 'resolver';
    return { admitted: false, failure: { code, phase, source, message }, addresses, resolveMs: 0 };
  };
  if (refused.includes(host)) return no('target_refused_by_policy', `The test refuses ${host}.`);
  if (addresses.length === 0) return no('dns_nxdomain', `The test knows no ${host}.`);
  const address = addresses.find((candidate) => family === undefined || addressFamily(candidate) === family);
  if (address === undefined) return no('dns_no_address', `The test has no IPv${family} address for ${host}.`);
  const candidates = addresses.filter((candidate) => family === undefined || addressFamily(candidate) === family);
  const target = { host: literal, address, family: addressFamily(address), addresses, candidates, resolveMs: 0 };
  return { admitted: true, target };
}

function addressFamily(address: string): Family {
  return isIP(address) === 6 ? 6 : 4;
}
