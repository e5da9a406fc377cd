import { afterPatience } from '@vantage/redis-connections';

export { afterPatience };

/**
 * Waits for work no longer than a time. Work that ends later ends unseen.
 *
 * @throws what `late` makes
 */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = afterPatience(milliseconds, () => reject(late()));
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel();
  }
}
