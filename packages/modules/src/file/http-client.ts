import { listOf, mapOf, struct, type Struct } from './decode.ts';
import { bool, string, tlsVersion, url } from './kinds.ts';

/** The client options that Prometheus and its exporters share (prometheus/common, `config`). */
export const tlsConfig = struct({
  ca_file: string,
  cert_file: string,
  key_file: string,
  server_name: string,
  insecure_skip_verify: bool,
  min_version: tlsVersion,
  max_version: tlsVersion,
});

const basicAuth = struct({ username: string, password: string, password_file: string });

const authorization = struct({ type: string, credentials: string, credentials_file: string });

const oauth2 = struct({
  client_id: string,
  client_secret: string,
  client_secret_file: string,
  scopes: listOf(string),
  token_url: string,
  endpoint_params: mapOf(string, ''),
  proxy_url: url,
  tls_config: tlsConfig,
});

export const httpClientFields = {
  basic_auth: basicAuth,
  authorization,
  oauth2,
  bearer_token: string,
  bearer_token_file: string,
  proxy_url: url,
  proxy_connect_header: mapOf(listOf(string), []),
  tls_config: tlsConfig,
  follow_redirects: bool,
  enable_http2: bool,
} as const;

type HttpClient = Struct<typeof httpClientFields>;

const isSet = (text: string | undefined): boolean => text !== undefined && text !== '';

/** Combinations that the client of Prometheus refuses. */
export function httpClientFault(client: HttpClient): string | undefined {
  const { basic_auth: basic, authorization: other, oauth2: grant } = client;
  const [token, tokenFile] = [isSet(client.bearer_token), isSet(client.bearer_token_file)];
  if (token && tokenFile) return 'at most one of bearer_token and bearer_token_file is allowed';
  const ways = [basic, other, grant, token || tokenFile ? {} : undefined].filter((way) => way !== undefined);
  if (ways.length > 1) return 'at most one of basic_auth, authorization, oauth2 and bearer_token is allowed';
  if (isSet(basic?.password) && isSet(basic?.password_file)) {
    return 'at most one of password and password_file of basic_auth is allowed';
  }
  if (isSet(other?.credentials) && isSet(other?.credentials_file)) {
    return 'at most one of credentials and credentials_file of authorization is allowed';
  }
  if (other?.type?.trim().toLowerCase() === 'basic')
    return 'authorization cannot have the type "basic": use basic_auth';
  if (grant !== undefined) return oauth2Fault(grant);
  const hasProxyHeaders = (client.proxy_connect_header?.size ?? 0) > 0;
  return hasProxyHeaders && !isSet(client.proxy_url) ? 'proxy_connect_header needs proxy_url' : undefined;
}

function oauth2Fault(grant: NonNullable<HttpClient['oauth2']>): string | undefined {
  if (!isSet(grant.client_id)) return 'oauth2 needs client_id';
  const [secret, file] = [isSet(grant.client_secret), isSet(grant.client_secret_file)];
  if (secret === file) return 'oauth2 needs either client_secret or client_secret_file';
  return isSet(grant.token_url) ? undefined : 'oauth2 needs token_url';
}
