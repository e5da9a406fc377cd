/** The part of a result that the audit reads. */
export interface Came {
  readonly result: string;
  readonly error: { readonly code: string; readonly phase: string } | null;
}

/** True if the agent refused the job or its target, or if the name did not resolve. */
export function isRefusal({ error }: Came): boolean {
  return (
    error !== null &&
    (error.code === 'target_refused_by_policy' || error.phase === 'dispatch' || error.phase === 'resolve')
  );
}
