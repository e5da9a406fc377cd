import type { Surroundings } from '@vantage/diagnostics';

/** Told in a line what a run does. */
export type Trace = (line: string) => void;

/** The same surroundings, which tell what the run asks of them. */
export function traceSurroundings(surroundings: Surroundings, trace: Trace): Surroundings {
  const { admit, names } = surroundings;
  return {
    ...surroundings,
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
      reverse: traced('names of', names.reverse, trace),
      forward: traced('addresses of', names.forward, trace),
    },
  };
}

type LookUp = Surroundings['names']['reverse'];

function traced(what: string, lookUp: LookUp, trace: Trace): LookUp {
  return async (asked, signal) => {
    const found = await lookUp(asked, signal);
    trace(`${what} ${asked}: ${found.join(', ') || 'none'}`);
    return found;
  };
}
