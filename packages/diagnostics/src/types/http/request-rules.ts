import { MAX_BODY_EXPRESSIONS, MAX_EXPRESSION_LENGTH, Type, type Static } from '@vantage/contract';

import { MAX_BODY_BYTES } from '../../http-client/bounds.ts';
import { tlsRules } from '../../tls/rules.ts';

export const MAX_MODULE_HEADERS = 64;
/** Limit of a request body, bytes: as much as one frame of HTTP/2 can hold. */
export const MAX_REQUEST_BODY_BYTES = 16_384;

export const codings = ['gzip', 'br', 'deflate'] as const;

const expressions = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_EXPRESSION_LENGTH }), { maxItems: MAX_BODY_EXPRESSIONS, description }),
  );

/** Maximum size of the response of a token server. */
export const MAX_TOKEN_BYTES = 16_384;
/** Maximum requests for a token: with the credentials in the header, then in the body. */
export const MAX_TOKEN_REQUESTS = 2;
/** Limit of the scopes, and of the further parameters, of a request for a token. */
export const MAX_GRANT_ENTRIES = 32;
/** Limit of each text of a request for a token, characters. */
export const MAX_GRANT_TEXT = 2_048;

const text = Type.String({ maxLength: MAX_GRANT_TEXT });

const oauth2 = Type.Object(
  {
    tokenUrl: text,
    clientId: text,
    clientSecret: text,
    scopes: Type.Array(text, { maxItems: MAX_GRANT_ENTRIES }),
    parameters: Type.Record(Type.String(), text, {
      maxProperties: MAX_GRANT_ENTRIES,
      description: 'Further parameters of the request for a token.',
    }),
    tls: tlsRules,
  },
  { description: 'Credentials of a client for which a token is requested first (RFC 6749 section 4.4).' },
);

export type OAuth2Grant = Static<typeof oauth2>;

const request = Type.Object(
  {
    timeoutMs: Type.Integer({ minimum: 0, maximum: 60_000, description: 'Time for the whole run.' }),
    tls: tlsRules,
    method: Type.Optional(Type.String({ pattern: "^[!#-'*+.^_`|~0-9A-Za-z-]{1,32}$" })),
    host: Type.Optional(
      Type.String({ maxLength: 261, description: 'The header Host, in place of the host of the URL.' }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
        maxProperties: MAX_MODULE_HEADERS,
        description: 'In place of the option, which refuses some of them.',
      }),
    ),
    body: Type.Optional(Type.String({ maxLength: MAX_REQUEST_BODY_BYTES, description: 'Body that is sent.' })),
    oauth2: Type.Optional(oauth2),
    compression: Type.Optional(
      Type.Object(
        { coding: Type.Enum(codings), maxBytes: Type.Integer({ minimum: 1, maximum: MAX_BODY_BYTES }) },
        { description: 'Content coding that the body must have, whatever the response says, and its longest content.' },
      ),
    ),
  },
  { description: 'How the module makes its requests.' },
);

/** Options of a module that no client can set. */
export const httpRules = {
  body: expressions(
    'Expressions of RE2 that the body is compared with. Absent if the module needs more than agents of earlier releases do: ' +
      'they refuse a job with rules and without this.',
  ),
  expressions: expressions('The same, for agents that know `request`.'),
  request: Type.Optional(request),
};

export type RequestRules = Static<typeof request>;

/** The rules of a job, in addition to the parameters of a client's check. */
interface WithRules {
  readonly rules?: {
    readonly body?: readonly string[];
    readonly expressions?: readonly string[];
    readonly request?: RequestRules;
  };
}

export function requestOf(params: object): RequestRules | undefined {
  return (params as WithRules).rules?.request;
}

/** Expressions that the body is compared with; undefined if the job has none. */
export function expressionsOf(params: object): readonly string[] | undefined {
  const { rules } = params as WithRules;
  return rules?.expressions ?? rules?.body;
}
