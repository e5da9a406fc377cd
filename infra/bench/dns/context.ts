import type { DiagnosticContext } from '../../../packages/diagnostics/src/diagnostic.ts';

const BUDGET_MS = 10_000;

/** The least that a diagnostic needs, on loopback. */
export function onLoopback(resolvers: readonly string[]): DiagnosticContext {
  const started = performance.now();
  return {
    signal: AbortSignal.timeout(BUDGET_MS),
    remainingMs: () => BUDGET_MS - (performance.now() - started),
    admit: async ({ host }) => ({
      admitted: true,
      target: { host, address: host, family: 4, addresses: [host], resolveMs: 0 },
    }),
    names: { reverse: async () => [], forward: async () => [] },
    resolvers,
    packets: { unavailable: 'This benchmark has no raw sockets.' },
    showPrivateAddresses: true,
    isPrivateAddress: () => false,
    attribution: { userAgent: 'Vantage/0 (bench)', payloadTag: 'vantage-bench' },
    emitPartial: () => undefined,
  };
}
