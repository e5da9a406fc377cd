/** Waits for this many milliseconds or until the signal aborts. Never rejects. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  const timer = setTimeout(resolve, milliseconds);
  signal?.addEventListener('abort', onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
}
