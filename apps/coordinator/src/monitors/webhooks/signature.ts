import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
/** Bounds of the length of a secret in Standard Webhooks, bytes. */
const [SHORTEST, LONGEST] = [24, 64];

/**
 * Reads a secret in the form of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.
 *
 * @returns the bytes of the secret; undefined for any other text
 */
export function readWebhookSecret(text: string): Buffer | undefined {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const secret = Buffer.from(encoded, 'base64');
  return secret.length >= SHORTEST && secret.length <= LONGEST ? secret : undefined;
}

/**
 * Headers of a message as Standard Webhooks signs it, HMAC-SHA256 over id, time and body: one signature for each secret,
 * of which a receiver needs to know one.
 */
export function signWebhook(
  secrets: readonly Buffer[],
  {
    id,
    timestamp,
    body,
  }: { readonly id: string; /** Seconds since the epoch. */ readonly timestamp: number; readonly body: string },
): Readonly<Record<string, string>> {
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}
