import type { ProbeContext } from '@vantage/diagnostics';

/** Receives one line per step of a run. */
export type TraceLine = (line: string) => void;

/** Wraps a probe context and reports its calls. */
export function traceProbeContext(probeContext: ProbeContext, trace: TraceLine): ProbeContext {
  const { admit, names } = probeContext;
  return {
    ...probeContext,
    admit: async (request, signal) => {
      const what = `admit ${request.host}${request.port === undefined ? '' : ` port ${request.port}`} for ${request.purpose}`;
      const admission = await admit(request, signal);
      trace(
        admission.admitted
          ? `${what}: ${admission.target.address} of ${admission.target.addresses.join(', ')}, resolved in ${admission.target.resolveMs.toFixed(1)} ms`
          : `${what}: no, ${admission.failure.code}: ${admission.failure.message}`,
      );
      return admission;
    },
    names: {
      reverse: async (address, signal) => {
        const found = await names.reverse(address, signal);
        trace(`names of ${address}: ${listed(found)}`);
        return found;
      },
      forward: async (name, family, signal) => {
        const found = await names.forward(name, family, signal);
        trace(`IPv${family} addresses of ${name}: ${found === null ? 'unknown' : listed(found)}`);
        return found;
      },
    },
  };
}

function listed(found: readonly string[]): string {
  return found.join(', ') || 'none';
}
