import { stallTolerantTimeout } from './stall-tolerant.ts';

/**
 * Waits for a promise, but no longer than a time, and ignores its errors. A stall of this process uses up little of the
 * time.
 */
export async function within(promise: Promise<unknown> | undefined, milliseconds: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const cancel = stallTolerantTimeout(milliseconds, timeout.resolve);
  await Promise.race([promise?.catch(() => undefined), timeout.promise]);
  cancel();
}

/**
 * Waits for work with a timeout. A later outcome is dropped. A stall of this process uses up little of the time.
 *
 * @throws the error of the work, or the one that `late` returns
 */
export function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = stallTolerantTimeout(milliseconds, () => reject(late()));
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: Error) => {
        cancel();
        reject(error);
      },
    );
  });
}
