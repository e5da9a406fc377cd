import { listOf, mapOf, struct, type KeyFault, type Struct } from './decode.ts';
import { bool, string, tlsVersion, goUrl } from './kinds.ts';

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
  proxy_url: goUrl,
  tls_config: tlsConfig,
});

export const httpClientFields = {
  basic_auth: basicAuth,
  authorization,
  oauth2,
  bearer_token: string,
  bearer_token_file: string,
  proxy_url: goUrl,
  proxy_connect_header: mapOf(listOf(string), []),
  tls_config: tlsConfig,
  follow_redirects: bool,
  enable_http2: bool,
} as const;

type HttpClient = Struct<typeof httpClientFields>;

const isSet = (text: string | undefined): boolean => text !== undefined && text !== '';

/** Combinations that the client of Prometheus refuses. */
export function httpClientFaults(client: HttpClient): readonly KeyFault[] {
  const { basic_auth: basic, authorization: other, oauth2: grant } = client;
  const [token, tokenFile] = [isSet(client.bearer_token), isSet(client.bearer_token_file)];
  const ways = Object.entries({
    basic_auth: basic,
    authorization: other,
    oauth2: grant,
    bearer_token: token || tokenFile ? {} : undefined,
  }).filter(([, way]) => way !== undefined);
  const hasProxyHeaders = (client.proxy_connect_header?.size ?? 0) > 0;
  return faultsOf([
    [
      token && tokenFile,
      ['bearer_token_file', 'bearer_token'],
      'at most one of bearer_token and bearer_token_file is allowed',
    ],
    [
      ways.length > 1,
      ways.slice(1).map(([name]) => name),
      'at most one of basic_auth, authorization, oauth2 and bearer_token is allowed',
    ],
    [
      isSet(basic?.password) && isSet(basic?.password_file),
      ['basic_auth'],
      'at most one of password and password_file of basic_auth is allowed',
    ],
    [
      isSet(other?.credentials) && isSet(other?.credentials_file),
      ['authorization'],
      'at most one of credentials and credentials_file of authorization is allowed',
    ],
    [
      other?.type?.trim().toLowerCase() === 'basic',
      ['authorization'],
      'authorization cannot have the type "basic": use basic_auth',
    ],
    ...oauth2Faults(grant),
    [
      hasProxyHeaders && !isSet(client.proxy_url),
      ['proxy_connect_header', 'proxy_url'],
      'proxy_connect_header needs proxy_url',
    ],
  ]);
}

type Condition = readonly [holds: boolean, ...fault: KeyFault];

function faultsOf(conditions: readonly Condition[]): readonly KeyFault[] {
  return conditions.flatMap(([holds, keys, message]) => (holds ? [[keys, message] as const] : []));
}

function oauth2Faults(grant: HttpClient['oauth2']): readonly Condition[] {
  if (grant === undefined) return [];
  const [secret, file] = [isSet(grant.client_secret), isSet(grant.client_secret_file)];
  return [
    [!isSet(grant.client_id), ['oauth2'], 'oauth2 needs client_id'],
    [secret === file, ['oauth2'], 'oauth2 needs either client_secret or client_secret_file'],
    [!isSet(grant.token_url), ['oauth2'], 'oauth2 needs token_url'],
  ];
}
