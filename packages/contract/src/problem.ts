import { Type, type Static } from './type.ts';

/**
 * All problem types. The key is the last path segment of the `type` URI, which resolves to a page generated from this
 * list; `status` is the HTTP status.
 */
export const problemTypes = {
  'invalid-json': { status: 400, title: 'The body is not valid JSON', help: 'Send a JSON object, in UTF-8.' },
  'invalid-request': {
    status: 400,
    title: 'The request is not valid',
    help: 'Each entry of `errors` names a field by JSON pointer and says what is wrong with it.',
  },
  'invalid-http': {
    status: 400,
    title: 'The request is not valid HTTP',
    help: 'The request line, a header, the encoding of the path or the forwarded address of the caller cannot be read.',
  },
  unauthorized: {
    status: 401,
    title: 'The API key is not valid',
    help:
      'The key in `Authorization: Bearer` is malformed, unknown, removed, replaced or expired. Send a valid key, or none ' +
      'if the operation needs none.',
  },
  'key-missing': {
    status: 401,
    title: 'An API key is required',
    help: 'Send one as `Authorization: Bearer`. `detail` names the scope that it needs; the operator of the service issues keys.',
  },
  'scope-missing': {
    status: 403,
    title: 'The API key lacks a scope',
    help: '`detail` names the scope that the operation needs. The operator of the service grants scopes.',
  },
  'target-refused': {
    status: 403,
    title: 'The target is refused by policy',
    help:
      'Vantage measures public targets only: no private, reserved or special-purpose addresses or names, ' +
      'and no ports that invite abuse. `detail` names the rule.',
  },
  'scrape-refused': {
    status: 403,
    title: 'Scraping is not allowed',
    help: '`GET /probe`, `GET /sd` and `GET /sd/agents` need an API key, or an address in the networks of `SCRAPE_NETWORKS`.',
  },
  'not-found': {
    status: 404,
    title: 'Nothing here',
    help: 'The path does not exist. `/openapi.json` lists those that do.',
  },
  'check-not-found': {
    status: 404,
    title: 'No such check',
    help:
      'The id is unknown, or the retention of the check has ended, or its results were removed before their time (410) and the ' +
      'client has had so many removed since that this one is no longer on record.',
  },
  'screenshot-not-found': {
    status: 404,
    title: 'No screenshot',
    help: 'The check has no screenshot, or not yet. `detail` has the reason.',
  },
  'monitor-not-found': {
    status: 404,
    title: 'No such monitor',
    help: 'No monitor has this name. `GET /monitors` lists them.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    help: 'The `Allow` header lists the methods of this path.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    help: 'A request has ten seconds for its head and fifteen in total; the first one of a connection, from its opening.',
  },
  'monitor-of-file': {
    status: 409,
    title: 'The monitor is owned by the file',
    help: '`MONITORS_FILE` of the coordinators names this monitor: change it there.',
  },
  'too-many-monitors': {
    status: 409,
    title: 'There are as many monitors as there may be',
    help: '`MONITORS_MAX` of the coordinators bounds them. Remove one.',
  },
  'checks-not-comparable': {
    status: 409,
    title: 'The checks cannot be compared',
    help: 'Two different checks of one type can be compared, once both are completed. `detail` names what is wrong.',
  },
  'idempotency-key-reused': {
    status: 409,
    title: 'The idempotency key was used with another request',
    help: 'A key belongs to one request for 24 hours, or as long as its check is kept if that is less. Send the same body again for the same answer, or take a new key.',
  },
  'idempotency-key-in-use': {
    status: 409,
    title: 'A request with this idempotency key is being answered',
    help: 'Its response is not available yet. Try again after `Retry-After` seconds.',
  },
  'check-evicted': {
    status: 410,
    title: 'The check is no longer kept',
    help:
      'The check was completed, and its results were removed before their time: the results of the client ' +
      'that started it took more memory than one client, or the service, may use, and its oldest go first. ' +
      '`detail` says so. Read results soon, or ask for smaller ones.',
  },
  'payload-too-large': { status: 413, title: 'The body is too large', help: 'A body has at most 16 KiB.' },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not JSON',
    help: 'Send `Content-Type: application/json`, without a content encoding.',
  },
  'upgrade-required': {
    status: 426,
    title: 'A WebSocket is required',
    help: 'Agents connect here by WebSocket (RFC 6455). If an agent gets this answer, a proxy in front of the service does not pass upgrades on.',
  },
  'no-probe-available': {
    status: 422,
    title: 'No probe can take the check',
    help: 'No online probe matches the request and can run this type. `GET /probes` lists the probes.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    help:
      'Wait for the number of seconds in `Retry-After`. `detail` says which limit it was: of your ' +
      'requests, or of how often a target is measured over all callers. The `RateLimit` and ' +
      '`RateLimit-Policy` headers of every answer show what is left.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many event streams',
    help:
      'A client may have a number of event streams open at a time. Close one, or try again after ' +
      '`Retry-After` seconds. `GET /check/{id}/results?wait=25` needs none.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The head of the request is too large',
    help: 'The request line and the headers together have at most 8 KiB.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    help: 'A bug in the service. `requestId` identifies it in the operator’s log.',
  },
  unavailable: {
    status: 503,
    title: 'The service is not available now',
    help:
      'The store cannot be reached, the queues are full, or more is requested than the service can answer. ' +
      'Nothing was accepted; try again after `Retry-After` seconds.',
  },
} as const;

export type ProblemType = keyof typeof problemTypes;

/** A problem document (RFC 9457), whose `type` is an absolute URI below the public base URL of the service. */
export const problemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri', maxLength: 2048 }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String(),
    instance: Type.String({ description: 'The path of the request.' }),
    requestId: Type.String({ description: 'Also in `X-Request-Id` and in the operator’s log.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path: Type.String({
              description:
                'JSON pointer into the body, `{name}` for a part of the path, `?name` for the query, `Name:` for a header.',
            }),
            message: Type.String(),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { title: 'Problem', description: 'RFC 9457 problem document.' },
);

export type Problem = Static<typeof problemSchema>;
