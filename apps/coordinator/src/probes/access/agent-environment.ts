import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

import { agentUser } from '@vantage/contract';
import { parseRedisUrl } from '@vantage/redis-connections';

/** What an agent has to be told. */
export interface AgentEnvironment {
  readonly PROBE_ID: string;
  readonly REDIS_URL: string;
  /** Absent where Redis has a certificate that Node trusts, or no TLS. */
  readonly REDIS_CA?: string;
}

/**
 * @param address where agents reach Redis; a login in it is replaced
 * @param ca PEM
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

/** One line a variable and no quotes: Docker, systemd, Node and shells read it alike. */
export function describeEnvironment(environment: AgentEnvironment): string {
  return Object.entries(environment)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** A file that is made at once, so that what is printed this once has a place before it is made. */
export interface EnvironmentFile {
  readonly write: (environment: AgentEnvironment) => void;
  /** Removes it again, where there was nothing to write. */
  readonly drop: () => void;
}

/** @returns undefined where there is such a file already */
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
      writeSync(handle, describeEnvironment(environment));
      closeSync(handle);
    },
    drop: () => rmSync(file, { force: true }),
  };
}

/** The password in an environment file of this probe, or undefined where it is not one. */
export function passwordOf(file: string, probe: string): string | undefined {
  const lines = readFileSync(file, 'utf8').split('\n');
  const value = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  const url = value('REDIS_URL');
  if (value('PROBE_ID') !== probe || url === undefined) return undefined;
  const { username, password } = parseRedisUrl(url);
  return username === agentUser(probe) ? password : undefined;
}

/** The base64 of PEM, without what makes lines of it: `MII…`, several certificates with a comma between. */
function inOneLine(pem: string): string {
  const certificates = pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  return [...certificates].map(([, body = '']) => body.replaceAll(/\s/g, '')).join(',');
}
