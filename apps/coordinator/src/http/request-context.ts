import { randomUUID } from 'node:crypto';

import { escapeText, withoutEncodedSecrets } from '@vantage/contract';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

import { apiKeyOf } from './caller.ts';
import { arrivalOf } from './limits/pace-requests.ts';
import type { Links } from './links.ts';
import { withoutCheckIds } from './without-check-ids.ts';
import { createStoreBudget, type StoreBudget } from './store-budget.ts';

/** Context of a request. */
export interface RequestContext {
  /** Id of the request: sent as `X-Request-Id`, logged, and part of each problem document. */
  readonly requestId: string;
  /** The path including that of the public URL; escaped and bounded, with secrets of keys removed. */
  readonly instance: string;
  /** Adds `requestId` to every line. */
  readonly log: Logger;
  /** Bounds the total wait for Redis. */
  readonly storeBudget: StoreBudget;
}

const exposedHeaders = [
  'ETag',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
];

/**
 * Headers of every response; handlers may replace them. The Content-Security-Policy is for responses without
 * markup.
 */
export const commonHeaders = Object.entries({
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposedHeaders.join(', '),
});

/** Creates the context of each request, sets the common headers, and logs the response. */
export function openRequestContext(links: Links, log: Logger): RequestHandler {
  return (request, response, next) => {
    const requestId = randomUUID();
    // Read now, because Express removes the mount path while a router handles the request.
    const { path } = request;
    let instance: string | undefined;
    let child: Logger | undefined;
    const context: RequestContext = {
      requestId,
      get instance() {
        return (instance ??= escapeText(pathWithoutSecrets(withPrefix(path, links.basePath)), 512));
      },
      storeBudget: createStoreBudget(),
      get log() {
        return (child ??= log.child({ requestId }));
      },
    };
    response.locals['requestContext'] = context;
    // Not `response.set`: that function of Express examines each value.
    response.setHeader('X-Request-Id', requestId);
    for (const [name, value] of commonHeaders) response.setHeader(name, value);
    logAnswer(request, response, context, log);
    next();
  };
}

export function requestContextOf(response: Response): RequestContext {
  return response.locals['requestContext'] as RequestContext;
}

/**
 * Adds the path of the public URL if a proxy stripped it. Of several slashes at the start one is kept, because a path
 * that begins with two would be a network-path reference (RFC 3986 section 4.2).
 */
function withPrefix(asked: string, basePath: string): string {
  const path = asked.replace(/^\/+/, '/');
  return path === basePath || path.startsWith(`${basePath}/`) ? path : `${basePath}${path}`;
}

function pathWithoutSecrets(path: string): string {
  const clean = withoutEncodedSecrets(path);
  return clean === path ? path : encodeURI(clean.toWellFormed());
}

/** Logs one line per request, at level debug for `/healthz` and `/readyz`. */
function logAnswer(request: Request, response: Response, context: RequestContext, log: Logger): void {
  const started = arrivalOf(request);
  response.once('close', () => {
    if (!log.isLevelEnabled('info')) return;
    const { instance, requestId } = context;
    const line = {
      requestId,
      method: request.method,
      path: withoutCheckIds(instance),
      status: response.statusCode,
      durationMs: Math.round(performance.now() - started),
      client: request.ip === undefined ? null : escapeText(request.ip, 64),
      ...nameOfKey(request),
      ...(response.writableFinished ? {} : { aborted: true }),
    };
    if (/\/(healthz|readyz)$/.test(instance)) log.debug(line, 'answered');
    else log.info(line, 'answered');
  });
}

/** The name of the key for the log line, never its secret. */
function nameOfKey(request: Request): { readonly key?: string } {
  const key = apiKeyOf(request);
  return key === undefined ? {} : { key: key.name };
}
