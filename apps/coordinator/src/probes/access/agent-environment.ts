import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

import { agentUser } from '@vantage/contract';
import { parseRedisUrl } from '@vantage/redis-connections';

/** Environment variables of an agent that connects to Redis. */
export interface AgentEnvironment {
  readonly PROBE_ID: string;
  readonly REDIS_URL: string;
  /** Certificates that the agent trusts for Redis, on one line; undefined if none are given. */
  readonly REDIS_CA?: string;
}

/**
 * @param address where agents reach Redis; a login in it is replaced
 * @param ca certificates that the agent trusts for Redis, PEM
 */
export function agentEnvironment(
  probe: string,
  password: string,
  address: string,
  ca: string | undefined,
): AgentEnvironment {
  const [, scheme = '', rest = ''] = /^([^:]+:\/\/)(?:[^@/?#]*@)?(.*)$/.exec(address) ?? [];
  return {
    PROBE_ID: probe,
    REDIS_URL: `${scheme}${agentUser(probe)}:${password}@${rest}`,
    ...(ca === undefined ? {} : { REDIS_CA: inOneLine(ca) }),
  };
}

/** Text of an environment file: one variable per line without quotes, a form that Docker and systemd have in common. */
export function describeEnvironment(environment: AgentEnvironment): string {
  return Object.entries(environment)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** A file created in advance, so that a password that is shown once has a destination. */
export interface EnvironmentFile {
  /** Throws if the disk does not take it. */
  readonly write: (environment: AgentEnvironment) => void;
  /** Removes the file, whose password, if it has one, is void. */
  readonly drop: () => void;
}

/** @returns undefined if the file exists */
export function createEnvironmentFile(file: string): EnvironmentFile | undefined {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (Error.isError(error) && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  }
  return {
    write: (environment) => {
      const handle = openSync(file, 'w', 0o600);
      try {
        writeFileSync(handle, describeEnvironment(environment));
        // Some file systems report a full disk only now.
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
    },
    drop: () => rmSync(file, { force: true }),
  };
}

/**
 * Reads the password from an environment file of this probe; undefined for any other file.
 *
 * @throws if the file cannot be read or is no regular one, or names this probe and a `REDIS_URL` that is not valid
 */
export function passwordOf(file: string, probe: string): string | undefined {
  // A device such as /dev/full may be read without end.
  if (!statSync(file).isFile())
    throw new Error(`${file} is no regular file: --env expects one, or the path of a new one`);
  const lines = readFileSync(file, 'utf8').split('\n');
  const value = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  const url = value('REDIS_URL');
  if (value('PROBE_ID') !== probe || url === undefined) return undefined;
  const { username, password } = parseRedisUrl(url);
  return username === agentUser(probe) ? password : undefined;
}

/** Base64 of the PEM on one line: `MII…`, several certificates separated by commas. */
function inOneLine(pem: string): string {
  const certificates = pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  return [...certificates].map(([, body = '']) => body.replaceAll(/\s/g, '')).join(',');
}
