import { MAX_GRANT_ENTRIES, MAX_GRANT_TEXT, type OAuth2Grant } from '@vantage/diagnostics/contract';

import type { RawHttp } from '../file/shape.ts';
import { refuseSet, type Refusals } from './refusals.ts';
import { planTls } from './tls.ts';

const PATH = 'http.oauth2';

/**
 * The credentials with which the agent requests a token before each probe; undefined if the module has none. Faults go
 * to `refusals`.
 */
export function planOAuth2(raw: RawHttp | undefined, refusals: Refusals): OAuth2Grant | undefined {
  const grant = raw?.oauth2;
  if (grant === undefined) return undefined;
  refuseSet(refusals, grant, PATH, { proxy_url: 'probes use no proxy' });
  const { client_id: clientId = '', token_url: tokenUrl = '', scopes = [] } = grant;
  const clientSecret = refusals.textOf(grant, PATH, 'client_secret_file')?.trim() ?? grant.client_secret ?? '';
  const parameters = Object.fromEntries(grant.endpoint_params ?? []);
  if (!isHttpUrl(tokenUrl)) refusals.refuse(grant, PATH, 'token_url', 'must be an http(s) URL without a login');
  const texts = {
    client_id: [clientId],
    [grant.client_secret === undefined ? 'client_secret_file' : 'client_secret']: [clientSecret],
    token_url: [tokenUrl],
    scopes,
    endpoint_params: Object.entries(parameters).flat(),
  };
  for (const [option, values] of Object.entries(texts)) {
    if (values.length > 2 * MAX_GRANT_ENTRIES || (option === 'scopes' && values.length > MAX_GRANT_ENTRIES)) {
      refusals.refuse(grant, PATH, option, `has more than ${MAX_GRANT_ENTRIES} entries`);
    }
    if (values.some((value) => value.length > MAX_GRANT_TEXT)) {
      refusals.refuse(grant, PATH, option, `has more than ${MAX_GRANT_TEXT} characters`);
    }
  }
  const tls = planTls(grant.tls_config, `${PATH}.tls_config`, refusals);
  return { tokenUrl, clientId, clientSecret, scopes: [...scopes], parameters, tls };
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  return ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}
