import type { RequestTargets } from './request-targets.ts';

type Case = readonly [what: string, module: string, target: (of: RequestTargets) => string, success: 0 | 1];

const module = (prober: string) => (name: string, options: string) =>
  `  ${name}: {prober: ${prober}, timeout: 20s, ${prober}: {${options}}}\n`;
const asks = (text: string): string => `fail_if_body_not_matches_regexp: ['${text}']`;

/** Modules with options of requests, as Vantage and blackbox_exporter both read them. */
export function requestModules({ files, echo }: RequestTargets): string {
  const [http, tcp] = [module('http'), module('tcp')];
  const own = `cert_file: ${files.cert}, key_file: ${files.key}`;
  const www = 'query_response: [{send: "GET /page HTTP/1.0\\r\\n\\r"}, {expect: "^HTTP/1.0 200"}]';
  return [
    http('plain', ''),
    http('identity', `tls_config: {${own}}`),
    http('identity_ca', `tls_config: {${own}, ca_file: ${files.ca}}`),
    http('identity_12', `tls_config: {${own}, max_version: TLS12}`),
    http('identity_1', `tls_config: {${own}}, enable_http2: false`),
    http('identity_post', `method: POST, body: text, tls_config: {${own}}`),
    http('stranger', `tls_config: {cert_file: ${files.otherCert}, key_file: ${files.otherKey}}`),
    http('stranger_12', `tls_config: {cert_file: ${files.otherCert}, key_file: ${files.otherKey}, max_version: TLS12}`),
    http('named', `tls_config: {${own}, server_name: target.example}`),
    http('misnamed', `tls_config: {${own}, server_name: www.example.org}`),
    http('misnamed_insecure', `tls_config: {${own}, server_name: www.example.org, insecure_skip_verify: true}`),
    http('old_tls', 'tls_config: {min_version: TLS10}'),
    http('new_tls', `tls_config: {${own}, min_version: TLS13}`),
    http('other_ca', `tls_config: {ca_file: ${files.cert}}`),
    ...['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) =>
      http(method.toLowerCase(), `method: ${method}`),
    ),
    http(
      'post_body',
      `method: POST, body: '{"a": "ü"}', headers: {Content-Type: application/json}, ${asks('POST.*ü.*11.*json')}`,
    ),
    http('put_body', `method: PUT, body: text, ${asks('PUT.*text')}`),
    http('get_body', `body: text, ${asks('GET.*text')}`),
    http('post_other', `method: POST, body: text, ${asks('something else')}`),
    http('post_unfollowed', 'method: POST, body: text, follow_redirects: false, valid_status_codes: [302]'),
    http(
      'headers',
      `headers: {Host: virtual.example.com, User-Agent: own/1, X-Own: a}, ${asks('"own":"a".*virtual.*own/1')}`,
    ),
    http('virtual', asks('virtual.example.com')),
    http('own_login', `headers: {authorization: own}, basic_auth: {username: u}, ${asks('"authorization":"own"')}`),
    http(
      'login',
      `basic_auth: {username: u, password_file: ${files.password}}, ${asks('"authorization":"Basic dTpzM2NyZXQ="')}`,
    ),
    ...tokenModules(echo),
    ...['gzip', 'br', 'deflate', 'identity', 'GZIP'].map((coding) => http(`as_${coding}`, `compression: ${coding}`)),
    http('gzip_small', 'compression: gzip, body_size_limit: 1KB'),
    http('gzip_large', 'compression: gzip, body_size_limit: 2KB'),
    http('gzip_text', "compression: gzip, fail_if_body_not_matches_regexp: ['^compressed .*compressed']"),
    http('gzip_asked', 'compression: gzip, headers: {Accept-Encoding: gzip}'),
    tcp('tcp_identity', `tls: true, ${www}, tls_config: {${own}}`),
    tcp('tcp_identity_12', `tls: true, ${www}, tls_config: {${own}, max_version: TLS12}`),
    tcp('tcp_none', `tls: true, ${www}`),
    tcp('tcp_none_12', `tls: true, ${www}, tls_config: {max_version: TLS12}`),
    tcp('tcp_stranger', `tls: true, ${www}, tls_config: {cert_file: ${files.otherCert}, key_file: ${files.otherKey}}`),
  ].join('');
}

/** Modules that request a token of the token server. */
function tokenModules(echo: string): readonly string[] {
  const http = module('http');
  const grant = (kind: string, more = ''): string =>
    `oauth2: {client_id: u, client_secret: 's3 cret&', token_url: '${echo}/token/${kind}'${more}}`;
  return [
    ...['header', 'body', 'form'].map((kind) =>
      http(`token_${kind}`, `${grant(kind)}, ${asks('"authorization":"Bearer for-nothing-all"')}`),
    ),
    http('token_own', `${grant('own')}, headers: {authorization: x}, ${asks('"authorization":"Own for-nothing-all"')}`),
    http(
      'token_for',
      `${grant('header', ', scopes: [a, b], endpoint_params: {audience: c}')}, ${asks('Bearer for-a_b-c')}`,
    ),
    ...['refuse', 'none'].map((kind) => http(`token_${kind}`, grant(kind))),
  ];
}

export const requestCases: readonly Case[] = [
  ['a certificate of the client', 'identity', ({ nginx }) => nginx, 1],
  ['a certificate of the client over HTTP/1.1', 'identity_1', ({ nginx }) => nginx, 1],
  ['a certificate of the client and an authority', 'identity_ca', ({ nginx }) => nginx, 1],
  ['a certificate of the client by TLS 1.2', 'identity_12', ({ nginx }) => nginx, 1],
  ['a client without a certificate', 'plain', ({ nginx }) => nginx, 0],
  ['a certificate that nginx does not trust', 'stranger', ({ nginx }) => nginx, 0],
  ['a certificate of the client with openssl', 'identity', ({ openssl }) => `https://${openssl}/page`, 1],
  ['no certificate with openssl', 'plain', ({ openssl }) => `https://${openssl}/page`, 0],
  ['a certificate that openssl does not trust', 'stranger', ({ openssl }) => `https://${openssl}/page`, 0],
  [
    'a certificate that openssl does not trust by TLS 1.2',
    'stranger_12',
    ({ openssl }) => `https://${openssl}/page`,
    0,
  ],
  ['a name of the server', 'named', ({ nginx }) => nginx, 1],
  ['a name that is not in the certificate', 'misnamed', ({ nginx }) => nginx, 0],
  ['a name that need not be in the certificate', 'misnamed_insecure', ({ nginx }) => nginx, 1],
  ['TLS 1.1 if nothing allows it', 'plain', ({ oldTls }) => oldTls, 0],
  ['TLS 1.1 if the module allows it', 'old_tls', ({ oldTls }) => oldTls, 1],
  ['TLS 1.3 as the lowest version', 'new_tls', ({ nginx }) => nginx, 1],
  ['TLS 1.3 as the lowest version with an old server', 'new_tls', ({ oldTls }) => oldTls, 0],
  ['another authority than that of the server', 'other_ca', ({ oldTls }) => oldTls, 0],
  ...['post', 'put', 'delete', 'patch', 'head', 'options', 'trace', 'propfind'].map((method): Case => [
    `${method} without a body`,
    method,
    ({ echo }) => echo,
    1,
  ]),
  ...['post_body', 'put_body', 'get_body', 'headers', 'own_login', 'login'].map((module): Case => [
    `a request with ${module}`,
    module,
    ({ echo }) => echo,
    1,
  ]),
  ...['header', 'body', 'form', 'own', 'for'].map((kind): Case => [
    `a token by the credentials of a client: ${kind}`,
    `token_${kind}`,
    ({ echo }) => echo,
    1,
  ]),
  ['a token and a redirect', 'token_header', ({ echo }) => `${echo}/to/307`, 1],
  ['a token server that gives none', 'token_none', ({ echo }) => echo, 0],
  ['a token server that refuses', 'token_refuse', ({ echo }) => echo, 0],
  ['a body that is not echoed', 'post_other', ({ echo }) => echo, 0],
  ...[301, 302, 303].map((status): Case => [
    `a body and the status ${status}`,
    'put_body',
    ({ echo }) => `${echo}/to/${status}`,
    0,
  ]),
  ...[307, 308].map((status): Case => [
    `a body and the status ${status}`,
    'put_body',
    ({ echo }) => `${echo}/to/${status}`,
    1,
  ]),
  ['a redirect of a POST that is not followed', 'post_unfollowed', ({ echo }) => `${echo}/to/302`, 1],
  ['HEAD and a redirect', 'head', ({ echo }) => `${echo}/to/302`, 1],
  ['a certificate of the client with POST over HTTP/2', 'identity_post', ({ nginx }) => nginx, 1],
  ...['gzip', 'br', 'deflate'].map((coding): Case => [
    `a body as ${coding}`,
    `as_${coding}`,
    ({ echo }) => `${echo}/as/${coding}`,
    1,
  ]),
  ['a coding in capitals', 'as_GZIP', ({ echo }) => `${echo}/as/gzip`, 1],
  ['the coding identity', 'as_identity', ({ echo }) => `${echo}/as/plain`, 1],
  ['a wrapper of zlib', 'as_deflate', ({ echo }) => `${echo}/as/zlib`, 0],
  ['a body that is not compressed', 'as_gzip', ({ echo }) => `${echo}/as/plain`, 0],
  ['no body to decompress', 'as_gzip', ({ echo }) => `${echo}/as/nothing`, 0],
  ['a decompressed body that is too large', 'gzip_small', ({ echo }) => `${echo}/as/gzip`, 0],
  ['a decompressed body that is not too large', 'gzip_large', ({ echo }) => `${echo}/as/gzip`, 1],
  ['an expression about a decompressed body', 'gzip_text', ({ echo }) => `${echo}/as/gzip`, 1],
  ['an expression about a body that does not decompress', 'gzip_text', ({ echo }) => `${echo}/as/plain`, 0],
  ['a header for the compression', 'gzip_asked', ({ echo }) => `${echo}/as/gzip`, 1],
  ['a certificate of the client over TCP', 'tcp_identity', ({ openssl }) => openssl, 1],
  ['a certificate of the client over TCP by TLS 1.2', 'tcp_identity_12', ({ openssl }) => openssl, 1],
  ['a client over TCP without a certificate', 'tcp_none', ({ openssl }) => openssl, 0],
  ['a client over TCP without a certificate by TLS 1.2', 'tcp_none_12', ({ openssl }) => openssl, 0],
  ['a certificate over TCP that is not trusted', 'tcp_stranger', ({ openssl }) => openssl, 0],
];
