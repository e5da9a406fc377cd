import { CHECK_ID_PATTERN, problemTypes, type ProblemType } from '@vantage/contract';

import { PROBLEM_MEDIA_TYPE } from '../problem.ts';
import { refTo, type JsonObject } from './json.ts';

const rateLimit = {
  description:
    'What is left: `"<limit>"; r=<left>; t=<seconds until there is more>` (draft 8 of the IETF header). Where the limit ' +
    'of a target refused a check it comes second, as `"target"`, `"target-ports"` or `"client-targets"`.',
  schema: { type: 'string', pattern: '^"[a-z-]+"; r=[0-9]+; t=[0-9]+(, "[a-z-]+"; r=[0-9]+; t=[0-9]+)?$' },
};

const rateLimitPolicy = {
  description: 'The limit: `"<limit>"; q=<how many>; w=<seconds>`, in the same order.',
  schema: { type: 'string', pattern: '^"[a-z-]+"; q=[0-9]+; w=[0-9]+(, "[a-z-]+"; q=[0-9]+; w=[0-9]+)?$' },
};

/** The header for responses to requests that may have been answered before a limit counted them. */
function ifCounted(header: typeof rateLimit): typeof rateLimit & { readonly required: false } {
  const description = `${header.description} Absent if no limit counted the request.`;
  return { ...header, description, required: false };
}

/** `#/components/headers` */
export const componentHeaders = {
  'X-Request-Id': {
    description: 'Identifies this request in the operator’s log.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9a-f-]{36}$' },
  },
  RateLimit: { ...rateLimit, required: true },
  'RateLimit-Policy': { ...rateLimitPolicy, required: true },
  'RateLimit-if-counted': ifCounted(rateLimit),
  'RateLimit-Policy-if-counted': ifCounted(rateLimitPolicy),
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  Location: {
    description: 'Path of the results of the new check.',
    required: true,
    schema: { type: 'string', pattern: `^/.*check/${CHECK_ID_PATTERN}/results$` },
  },
  ETag: {
    description: 'Changes with the content; send it back in `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]+"$' },
  },
  'Cache-Control': {
    description: 'How long the answer may be kept.',
    required: true,
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description: 'The scheme of keys (RFC 6750).',
    required: true,
    schema: { type: 'string', pattern: '^Bearer ' },
  },
} as const satisfies JsonObject;

export type HeaderName = keyof typeof componentHeaders;

/** True for a response to a counted request, `maybe` for one that may also answer a request that was not counted. */
type Limited = boolean | 'maybe';

/** References to headers: every response has the request id, and a response of a limited operation also the limits. */
export function headers(limited: Limited, more: readonly HeaderName[] = []): JsonObject {
  const limits = ['RateLimit', 'RateLimit-Policy'].map((name) => [
    name,
    refToHeader(limited === 'maybe' ? `${name}-if-counted` : name),
  ]);
  const others = ['X-Request-Id', ...more].map((name) => [name, refToHeader(name)]);
  return Object.fromEntries([...others, ...(limited === false ? [] : limits)]) as JsonObject;
}

function refToHeader(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` };
}

/** Problem responses of an operation by status; problems with the same status share a response. */
export function problemAnswers(types: readonly ProblemType[], limited: boolean): JsonObject {
  const byStatus = Map.groupBy(types, (type) => problemTypes[type].status);
  const answers = [...byStatus].map(([status, ofStatus]) => [String(status), problemAnswer(status, ofStatus, limited)]);
  return Object.fromEntries(answers) as JsonObject;
}

const retryAfterInUse: JsonObject = {
  description: 'Of `idempotency-key-in-use`: seconds to wait before the same request is sent again.',
  schema: componentHeaders['Retry-After'].schema,
};

function problemAnswer(status: number, types: readonly ProblemType[], limited: boolean): JsonObject {
  // A malformed request, an internal error or an overload may be answered before the limit is counted.
  const isCounted = limited && ([400, 500, 503].includes(status) ? 'maybe' : true);
  const more: readonly HeaderName[] =
    status === 429 || status === 503 ? ['Retry-After'] : status === 401 ? ['WWW-Authenticate'] : [];
  // Of the problems with this status only one has it.
  const inUse = types.includes('idempotency-key-in-use') ? { 'Retry-After': retryAfterInUse } : {};
  const description = types.map((type) => `\`${type}\`: ${problemTypes[type].title}. ${problemTypes[type].help}`);
  return {
    description: description.join('\n\n'),
    headers: { ...headers(isCounted, more), ...inUse },
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: refTo('Problem'),
        examples: Object.fromEntries(types.map((type) => [type, problemExample(type)])),
      },
    },
  };
}

function problemExample(type: ProblemType): JsonObject {
  const { status, title, help } = problemTypes[type];
  const value = {
    type: `https://vantage.example/problems/${type}`,
    title,
    status,
    detail: help,
    instance: '/check',
    requestId: '31f2797f-ab58-4e40-a767-910e73d12a0e',
  };
  return { summary: title, value };
}
