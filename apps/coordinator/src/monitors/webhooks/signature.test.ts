import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

import { readWebhookSecret, signWebhook } from './signature.ts';

const text = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('a signed message', () => {
  it('is accepted by the library of Standard Webhooks, and not if a byte differs', () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const body = JSON.stringify({ type: 'monitor.bad', data: { headline: 'Ü “quoted”' } });
    const headers = { ...signWebhook([readWebhookSecret(text)!], { id: 'msg_1', timestamp, body }) };
    const receiver = new Webhook(text);

    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => receiver.verify(`${body} `, headers)).toThrow('No matching signature');
    expect(() => receiver.verify(body, { ...headers, 'webhook-id': 'msg_2' })).toThrow('No matching signature');
  });

  it('is accepted by receivers with either of two secrets, and by none without one of them', () => {
    const [old, current, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
    const secrets = [readWebhookSecret(current!)!, readWebhookSecret(old!)!];
    const headers = { ...signWebhook(secrets, { id: 'msg_1', timestamp: Math.floor(Date.now() / 1_000), body: '{}' }) };

    for (const text of [old!, current!]) expect(new Webhook(text).verify('{}', headers)).toEqual({});
    expect(() => new Webhook(other!).verify('{}', headers)).toThrow('No matching signature');
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
