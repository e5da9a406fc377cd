import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';

import type { Admit, Target } from '@vantage/contract';

import { request as requestPlain } from '../../node-http.ts';
import { signWebhook } from './signature.ts';

/** A message to one webhook. */
export interface Delivery {
  /** Id of the message, the same for every attempt. */
  readonly id: string;
  readonly url: string;
  /** Body of the message, JSON. */
  readonly body: string;
  /** Time of this attempt by the clock of Redis, milliseconds since the epoch: receivers refuse old signatures. */
  readonly sentAtMs: number;
}

/** `refused`: the receiver wants no more messages. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' | 'refused'; readonly reason: string };

export type SendWebhook = (delivery: Delivery) => Promise<DeliveryOutcome>;

export const WEBHOOK_TIMEOUT_MS = 10_000;

export interface SendWebhookOptions {
  /** Checks the host against the target policy, resolves it once and pins one address. */
  readonly admit: Admit;
  readonly secrets: readonly Buffer[];
}

/** Sends signed messages. Redirects are not followed. */
export function createSendWebhook({ admit, secrets }: SendWebhookOptions): SendWebhook {
  return async ({ id, url: text, body, sentAtMs }) => {
    const url = new URL(text);
    const signal = AbortSignal.timeout(WEBHOOK_TIMEOUT_MS);
    try {
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
      const admission = await admit({ host, port, purpose: 'http' }, signal);
      if (!admission.admitted) return { kind: 'failed', reason: admission.failure.message };
      const timestamp = Math.floor(sentAtMs / 1_000);
      const headers = { ...signWebhook(secrets, { id, timestamp, body }), 'Content-Type': 'application/json' };
      return outcomeOf(await post(url, admission.target, { headers, body, signal }));
    } catch (error) {
      return { kind: 'failed', reason: Error.isError(error) ? error.message : String(error) };
    }
  };
}

/** @returns the status code of the receiver's response */
async function post(
  url: URL,
  { address, family }: Target,
  {
    headers,
    body,
    signal,
  }: { readonly headers: Readonly<Record<string, string>>; readonly body: string; readonly signal: AbortSignal },
): Promise<number> {
  const lookup: LookupFunction = (_host, { all }, callback) => {
    if (all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
  const send = url.protocol === 'https:' ? requestTls : requestPlain;
  const length = String(Buffer.byteLength(body));
  const outgoing = send(url, {
    method: 'POST',
    agent: false,
    lookup,
    signal,
    headers: { ...headers, 'Content-Length': length },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  // The body of the response is not used.
  response.destroy();
  return response.statusCode ?? 0;
}

function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `status ${status}`;
  // In Standard Webhooks, 410 means that the receiver wants no more messages.
  return { kind: status === 410 ? 'refused' : 'failed', reason };
}
