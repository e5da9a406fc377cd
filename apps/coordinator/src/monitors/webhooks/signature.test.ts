import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

import { readWebhookSecret, signWebhook } from './signature.ts';

const text = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('a signed message', () => {
  it('is accepted by the library of Standard Webhooks, and not if a byte differs', () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const body = JSON.stringify({ type: 'monitor.bad', data: { headline: 'Ü “quoted”' } });
    const headers = { ...signWebhook(readWebhookSecret(text)!, { id: 'msg_1', timestamp, body }) };
    const receiver = new Webhook(text);

    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => receiver.verify(`${body} `, headers)).toThrow('No matching signature');
    expect(() => receiver.verify(body, { ...headers, 'webhook-id': 'msg_2' })).toThrow('No matching signature');
  });
});

describe('a secret', () => {
  it.each([
    ['no prefix', Buffer.alloc(32).toString('base64')],
    ['too short', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too long', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['no base64', `whsec_${'*'.repeat(32)}`],
  ])('is refused: %s', (_reason, secret) => {
    expect(readWebhookSecret(secret)).toBeUndefined();
  });
});
