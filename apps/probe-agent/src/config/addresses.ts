import { url, type VariableKind } from '@vantage/settings';

const http = url(['http:', 'https:']);

/** Address of the service, without login, query and fragment, which would be lost, sent to the gateway, or logged. */
export const serviceAddress: VariableKind<string> = {
  name: http.name,
  parse: (value) => {
    const { username, password, search, hash } = new URL(http.parse(value));
    if (username !== '' || password !== '') throw new Error('must have no user and no password');
    if (search !== '' || hash !== '') throw new Error('must have no query and no fragment');
    return value;
  },
};

/** Address of a proxy, with a login if the proxy requires one. */
export const proxyAddress: VariableKind<string> = {
  name: 'http(s)://host:port or http(s)://user:password@host:port, with other characters than letters and digits of the login as %XX',
  parse: (value) => {
    const { username, password } = new URL(http.parse(value));
    // Throws for a malformed login. Otherwise only the connections would fail: Node decodes the login for each of them.
    for (const part of [username, password]) decodeURIComponent(part);
    return value;
  },
};
