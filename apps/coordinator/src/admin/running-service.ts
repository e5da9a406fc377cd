import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Data folder of `npm start` in a checkout. */
const DEFAULT_FOLDER = '.vantage';

/**
 * Adds the `REDIS_URL` of a running `npm start` to an environment without one.
 *
 * @param folder data folder, if given explicitly: then it takes precedence over `REDIS_URL`
 * @returns undefined if no service runs on an explicit folder
 */
export function withRunningService(environment: Environment, folder?: string): Environment | undefined {
  if (folder === undefined && (environment['REDIS_URL'] ?? '') !== '') return environment;
  try {
    return { ...environment, ...redisOf(folder ?? DEFAULT_FOLDER) };
  } catch {
    return folder === undefined ? environment : undefined;
  }
}

/** The `REDIS_URL` of a running `npm start`; absent if that uses an external Redis. Throws if none runs. */
function redisOf(folder: string): { readonly REDIS_URL?: string } {
  const running = JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8')) as {
    readonly redis: { readonly port: number } | null;
  };
  if (running.redis === null) return {};
  const password = readFileSync(join(folder, 'redis', 'password'), 'utf8').trim();
  return { REDIS_URL: `redis://:${password}@127.0.0.1:${running.redis.port}` };
}

/** Removes `--data FOLDER` or `--data=FOLDER` from the arguments. */
export function takeDataFolder(args: readonly string[]): {
  readonly args: readonly string[];
  /** Empty if the flag has no value; undefined without the flag. */
  readonly folder: string | undefined;
} {
  const at = args.findIndex((arg) => arg === '--data' || arg.startsWith('--data='));
  if (at === -1) return { args, folder: undefined };
  const [given = '', next = ''] = args.slice(at, at + 2);
  return given === '--data'
    ? { args: args.toSpliced(at, 2), folder: next }
    : { args: args.toSpliced(at, 1), folder: given.slice('--data='.length) };
}
