import { describe, expect, it } from '@jest/globals';

import { classifyError, connectionClosed } from '../../shared/classify-error.ts';
import { explainLater } from './explain-failure.ts';
import type { Tls } from '../schema.ts';

const REQUIRED = 'The server requires a certificate of the client.';
const ASKED = 'Before that it asked for a certificate of the client.';

function alert(name: string): Error {
  return Object.assign(new Error(name), { code: name });
}

function tls(protocol: string, clientCertificateRequested: boolean): Tls {
  return { protocol, clientCertificateRequested } as Tls;
}

describe('a failure after the handshake', () => {
  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', REQUIRED],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', REQUIRED],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', REQUIRED],
    ['ERR_SSL_TLSV1_ALERT_ACCESS_DENIED', REQUIRED],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', `The server ended TLS with the alert “internal error”. ${ASKED}`],
    ['ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR', `The server ended TLS with the alert “decrypt error”. ${ASKED}`],
  ])('of TLS 1.3 is for want of a certificate only by an alert that says so: %s', (code, message) => {
    const thrown = alert(code);

    expect(explainLater(classifyError(thrown, 'request'), thrown, tls('TLSv1.3', true)).message).toBe(message);
  });

  it.each<[string, Tls]>([
    ['no certificate was asked for', tls('TLSv1.3', false)],
    ['the server had its chance before, in TLS 1.2', tls('TLSv1.2', true)],
  ])('is left as it is where %s', (_reason, asked) => {
    const failure = connectionClosed('request');

    expect(explainLater(failure, undefined, asked)).toBe(failure);
  });

  it('is left as it is where the answer had begun', () => {
    const failure = connectionClosed('response');

    expect(explainLater(failure, undefined, tls('TLSv1.3', true))).toBe(failure);
    expect(explainLater(connectionClosed('request'), undefined, tls('TLSv1.3', true)).message).toContain(ASKED);
  });
});
