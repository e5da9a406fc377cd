import { ruleErrors } from '@vantage/contract';
import { checkTypes, MAX_MODULE_HEADERS } from '@vantage/diagnostics/contract';

import type { RawHttp } from '../file/shape.ts';
import type { HttpModule } from './module.ts';
import type { Refusals } from './refusals.ts';

/** Form of a Host header: a name or an address, with or without a port. */
const AUTHORITY = /^(?:[\w.-]{1,253}|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The headers of a request with the credentials; Host is separate. */
export function planHeaders(raw: RawHttp | undefined, refusals: Refusals): Pick<HttpModule, 'headers' | 'host'> {
  const given = [...(raw?.headers ?? [])];
  const isHost = ([name]: readonly [string, string]): boolean => name.toLowerCase() === 'host';
  const host = given.find(isHost)?.[1];
  if (host !== undefined && !isAuthority(host)) {
    refusals.refuse(raw!, 'http', 'headers', 'Host is neither a host nor host and port');
  }
  const named = Object.fromEntries(given.filter((header) => !isHost(header)));
  const hasCredentials = Object.keys(named).some((name) => name.toLowerCase() === 'authorization');
  const authorization = authorizationOf(raw, refusals);
  const headers = authorization === undefined || hasCredentials ? named : { ...named, Authorization: authorization };
  if (Object.keys(headers).length > MAX_MODULE_HEADERS) {
    refusals.refuse(raw!, 'http', 'headers', `has more than ${MAX_MODULE_HEADERS} entries`);
  }
  for (const message of faultsOf(headers)) refusals.refuse(raw!, 'http', 'headers', message);
  return { headers, host };
}

export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}

/** Faults of the headers by the rules for clients, except that a module may set the User-Agent. */
function faultsOf(headers: Readonly<Record<string, string>>): readonly string[] {
  const renamed = Object.entries(headers).map(([name, value]) => [isUserAgent(name) ? 'X-Agent' : name, value]);
  const options = { headers: Object.fromEntries(renamed) as Record<string, string> };
  const params = { host: 'http://example.com/', insecureSSL: false, options: options as never };
  return ruleErrors(checkTypes.http, params).map(({ message }) => message);
}

export function isUserAgent(name: string): boolean {
  return name.toLowerCase() === 'user-agent';
}

function authorizationOf(raw: RawHttp | undefined, refusals: Refusals): string | undefined {
  const { basic_auth: basic, authorization: other } = raw ?? {};
  /** The trimmed content of the file that an option names; undefined if there is none. */
  const fileOf = (owner: object | undefined, path: string, option: string): string | undefined =>
    refusals.textOf(owner, path, option)?.trim();
  if (basic !== undefined) {
    const password = fileOf(basic, 'http.basic_auth', 'password_file') ?? basic.password ?? '';
    return `Basic ${Buffer.from(`${basic.username ?? ''}:${password}`).toString('base64')}`;
  }
  const token = fileOf(raw, 'http', 'bearer_token_file') ?? raw?.bearer_token ?? '';
  if (token !== '') return `Bearer ${token}`;
  const credentials = fileOf(other, 'http.authorization', 'credentials_file') ?? other?.credentials ?? '';
  if (credentials === '') return undefined;
  const type = other?.type?.trim() ?? '';
  return `${type === '' ? 'Bearer' : type} ${credentials}`;
}
