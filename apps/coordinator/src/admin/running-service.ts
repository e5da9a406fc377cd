import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Names the Redis of a service that `npm start` runs in this checkout, if the environment names none.
 *
 * @param folder data of the service
 */
export function withRunningService(environment: Environment, folder = '.vantage'): Environment {
  if ((environment['REDIS_URL'] ?? '') !== '') return environment;
  try {
    const running = JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8')) as {
      readonly redis: { readonly port: number } | null;
    };
    if (running.redis === null) return environment;
    const password = readFileSync(join(folder, 'redis', 'password'), 'utf8').trim();
    return { ...environment, REDIS_URL: `redis://:${password}@127.0.0.1:${running.redis.port}` };
  } catch {
    return environment;
  }
}
