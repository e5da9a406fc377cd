import { randomUUID } from 'node:crypto';

import { escapeText, withoutEncodedSecrets } from '@vantage/contract';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

import { apiKeyOf } from './caller.ts';
import type { Links } from './links.ts';
import { withoutCheckIds } from './without-check-ids.ts';
import { createStoreBudget, type StoreBudget } from './store-budget.ts';

/** What is kept about one request while it is answered. */
export interface Exchange {
  /** Also in `X-Request-Id`, in the log, and in each problem document. */
  readonly requestId: string;
  /** The path below the base address, with the prefix of the base address; escaped and bounded, without secrets of keys. */
  readonly instance: string;
  /** Bound to `requestId`. */
  readonly log: Logger;
  /** What the request may wait for the store in all. */
  readonly storeBudget: StoreBudget;
}

/** Answers that carry no markup need nothing; pages set a policy of their own. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";

const exposedHeaders = [
  ...['ETag', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
];

/** Gives each request its id, its headers that every answer has, and its line in the log. */
export function openExchange(links: Links, log: Logger): RequestHandler {
  return (request, response, next) => {
    const requestId = randomUUID();
    const instance = escapeText(pathWithoutSecrets(withPrefix(request.path, links.basePath)), 512);
    const exchange: Exchange = { requestId, instance, log: log.child({ requestId }), storeBudget: createStoreBudget() };
    response.locals['exchange'] = exchange;
    response.set({
      'X-Request-Id': requestId,
      'Content-Security-Policy': API_POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': exposedHeaders.join(', '),
    });
    logAnswer(request, response, exchange);
    next();
  };
}

export function exchangeOf(response: Response): Exchange {
  return response.locals['exchange'] as Exchange;
}

/**
 * The service answers below its prefix and, for proxies that strip it, without; what it says of itself has it. A path that
 * begins with two slashes would be the address of another host (RFC 3986 section 4.2).
 */
function withPrefix(asked: string, basePath: string): string {
  const path = asked.replace(/^\/+/, '/');
  return path === basePath || path.startsWith(`${basePath}/`) ? path : `${basePath}${path}`;
}

function pathWithoutSecrets(path: string): string {
  const clean = withoutEncodedSecrets(path);
  return clean === path ? path : encodeURI(clean.toWellFormed());
}

/** One line per request; those of probes of an orchestrator, every few seconds, only when debugging. */
function logAnswer(request: Request, response: Response, { instance, log }: Exchange): void {
  const started = performance.now();
  const quiet = /\/(healthz|readyz)$/.test(instance);
  response.once('close', () => {
    const line = {
      method: request.method,
      path: withoutCheckIds(instance),
      status: response.statusCode,
      durationMs: Math.round(performance.now() - started),
      client: request.ip === undefined ? null : escapeText(request.ip, 64),
      ...nameOfKey(request),
      ...(response.writableFinished ? {} : { aborted: true }),
    };
    if (quiet) log.debug(line, 'answered');
    else log.info(line, 'answered');
  });
}

/** The name is the operator's; the secret is in no log. */
function nameOfKey(request: Request): { readonly key?: string } {
  const key = apiKeyOf(request);
  return key === undefined ? {} : { key: key.name };
}
