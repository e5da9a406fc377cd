import type { IncomingMessage } from 'node:http';

import { expect, it } from '@jest/globals';
import express from 'express';

import { readConfig } from '../config/config.ts';
import { trustProxy, unprocessedAddress } from './client-address.ts';

const forwarded = '198.51.100.7, 2001:db8::1, 203.0.113.9';

/** The address of a client behind 127.0.0.1, by Express with this value of `TRUSTED_PROXIES`. */
function addressWith(text: string): string | undefined {
  const { trustedProxies } = readConfig({ REDIS_URL: 'redis://127.0.0.1:1', TRUSTED_PROXIES: text });
  const app = express().set('trust proxy', trustProxy(trustedProxies));
  const socket = { remoteAddress: '::ffff:127.0.0.1' };
  return unprocessedAddress(app, { headers: { 'x-forwarded-for': forwarded }, socket } as unknown as IncomingMessage);
}

it.each([
  ['none', '0', '127.0.0.1'],
  ['their number', '2', '2001:db8::1'],
  ['an address and a network', '127.0.0.1, 203.0.113.0/24', '2001:db8::1'],
  ['all of IPv4', '0.0.0.0/0', '2001:db8::1'],
  ['all of both families', '0.0.0.0/0, ::/0', '198.51.100.7'],
])('the client is the first address that no trusted proxy has: %s', (_reason, text, address) => {
  expect(addressWith(text)).toBe(address);
});
