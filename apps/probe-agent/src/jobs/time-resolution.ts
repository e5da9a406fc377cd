import type { Job } from '@vantage/contract';
import type { DiagnosticContext } from '@vantage/diagnostics';

/** A context that notes how long its first admission took to resolve. */
export interface TimedContext {
  readonly context: DiagnosticContext;
  /**
   * `resolve`: duration of the first name resolution in milliseconds, 0 for an address; also if it failed or its target
   * was refused. No field if the job does not ask for it, or before an admission has ended.
   */
  readonly fields: () => { readonly resolve?: number };
}

/** The first admission of a run is that of its target, or of the server that a dns check asks. */
export function timeResolution(context: DiagnosticContext, { params }: Pick<Job, 'params'>): TimedContext {
  const { rules } = params as { readonly rules?: { readonly resolve?: boolean } };
  if (rules?.resolve !== true) return { context, fields: () => ({}) };
  let resolve: number | undefined;
  return {
    context: {
      ...context,
      admit: async (request, signal) => {
        const admission = await context.admit(request, signal);
        resolve ??= admission.admitted ? admission.target.resolveMs : admission.resolveMs;
        return admission;
      },
    },
    fields: () => (resolve === undefined ? {} : { resolve }),
  };
}
