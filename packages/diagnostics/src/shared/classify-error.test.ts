import { spawnSync } from 'node:child_process';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { failureSchema, type Failure } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';
import { Value } from 'typebox/value';

import {
  classifyCertificate,
  classifyError,
  classifyPeerError,
  connectionClosed,
  headTooLarge,
  isAlert,
  outcomeOf,
  timedOut,
} from './classify-error.ts';
import { certificateVerdicts, socketVerdicts, tlsVerdicts } from './error-codes.ts';

describe('the classifier of what Node throws', () => {
  it.each([
    ['a port without a listener', 'ECONNREFUSED', 'connection_refused', 'target'],
    ['a router that knows no way', 'EHOSTUNREACH', 'host_unreachable', 'network'],
    ['a probe without a route', 'ENETUNREACH', 'network_unreachable', 'network'],
    ['a kernel that gave up', 'ETIMEDOUT', 'timed_out', 'network'],
    ['a write after the end', 'EPIPE', 'connection_closed', 'target'],
    ['a probe without IPv6', 'EADDRNOTAVAIL', 'family_unavailable', 'probe'],
    ['a probe at its limit', 'EMFILE', 'probe_busy', 'probe'],
    ['a probe without a free port', 'EADDRINUSE', 'probe_busy', 'probe'],
    ['a probe that cannot start a process', 'EAGAIN', 'probe_busy', 'probe'],
    ['a filter of the path', 'EACCES', 'administratively_prohibited', 'network'],
    ['an oversized datagram', 'EMSGSIZE', 'packet_too_big', 'network'],
    ['a server of old', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'tls_protocol_unsupported', 'target'],
    ['a server that says so', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls_protocol_unsupported', 'target'],
    ['no TLS at all', 'ERR_SSL_WRONG_VERSION_NUMBER', 'tls_handshake_failed', 'target'],
    ['a fault of TLS that is not in the table', 'ERR_SSL_SOMETHING_NEW', 'tls_handshake_failed', 'target'],
    ['an unknown code', 'ERR_NEW_IN_NODE_99', 'internal_error', 'probe'],
    ['the name of a property of every object', 'constructor', 'internal_error', 'probe'],
  ])('knows %s by %s', (_reason, code, expected, source) => {
    const failure = classifyError(Object.assign(new Error('as Node words it'), { code }), 'connect');

    expect(failure).toMatchObject({ code: expected, source, phase: 'connect' });
    expect(failure.message).not.toContain('as Node words it');
    expect(problemsOf(failure)).toEqual([]);
  });

  it.each([
    ['a string', 'boom', 'string'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'object'],
    ['an error without a code', new RangeError('boom'), 'RangeError'],
    ['an error with a code that is a number', Object.assign(new Error('boom'), { code: 7 }), 'Error'],
    ['an object that looks like an error', { code: 'ECONNREFUSED' }, 'object'],
  ])('calls %s a fault of the probe', (_reason, thrown, named) => {
    const failure = classifyError(thrown, 'exec');

    expect(failure).toMatchObject({ code: 'internal_error', phase: 'exec', source: 'probe' });
    expect(failure.message).toContain(`(${named})`);
  });

  it.each([
    ['10.1.2.3', 'probe_busy', 'no local port left'],
    ['2001:db8::1', 'family_unavailable', 'no address of this family'],
  ])('tells used-up ports from a missing address family: %s', (address, code, words) => {
    const failure = classifyError(Object.assign(new Error('connect'), { code: 'EADDRNOTAVAIL', address }), 'connect');

    expect(failure).toMatchObject({ code, source: 'probe' });
    expect(failure.message).toContain(words);
  });

  (process.getuid?.() === 0 ? it : it.skip)('calls a probe whose ports are used up busy', () => {
    const program = `
      import { connect, createServer } from 'node:net';
      const { classifyError } = await import(${JSON.stringify(join(import.meta.dirname, 'classify-error.ts'))});
      const server = createServer().listen(9_000, '127.0.0.1');
      for (let opened = 0; opened < 3; opened += 1) {
        const socket = connect(9_000, '127.0.0.1');
        await new Promise((resolve) => socket.once('connect', resolve).once('error', (error) => {
          console.log(JSON.stringify(classifyError(error, 'connect')));
          process.exit();
        }));
      }`;
    const ports = 'ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range="40000 40001" && exec "$@"';
    const node = [process.execPath, '--conditions=vantage-source', '--input-type=module', '-e', program];

    const { stdout } = spawnSync('unshare', ['--net', 'sh', '-c', ports, 'sh', ...node], { encoding: 'utf8' });

    expect(JSON.parse(stdout)).toMatchObject({ code: 'probe_busy', source: 'probe', phase: 'connect' });
  });

  it('tells a reset by the peer from an early end, which Node gives the same code', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).resetAndDestroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const reset = await new Promise((resolve) => connect(port, '127.0.0.1').resume().on('error', resolve));
    await new Promise((resolve) => server.close(resolve));
    const hangUp = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

    expect(classifyError(reset, 'response').code).toBe('connection_reset');
    expect(classifyError(hangUp, 'response').code).toBe('connection_closed');
  });

  it.each([
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'wanted to negotiate again'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'The server requires a certificate of the client.'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'The server ended TLS with the alert “internal error”.'],
    [
      'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
      'TLS failed after the handshake (decryption failed or bad record mac).',
    ],
  ])('does not blame a handshake that came to its end: %s', (code, message) => {
    const failure = classifyError(Object.assign(new Error('x'), { code }), 'request');

    expect(failure).toMatchObject({ code: 'tls_handshake_failed', phase: 'request', source: 'target' });
    expect(failure.message).toContain(message);
  });

  it.each([...Object.entries(socketVerdicts), ...Object.entries(tlsVerdicts)])(
    'has a valid row for %s',
    (code, row) => {
      const failure = classifyError(Object.assign(new Error('x'), { code, syscall: 'read' }), 'tls');

      expect(failure).toEqual({ phase: 'tls', ...row });
      expect(problemsOf(failure)).toEqual([]);
    },
  );
});

describe('the classifier of certificates', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'tls_expired'],
    ['CERT_NOT_YET_VALID', 'tls_not_yet_valid'],
    ['HOSTNAME_MISMATCH', 'tls_hostname_mismatch'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_self_signed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_unknown_issuer'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_unknown_issuer'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_unknown_issuer'],
    ['CERT_REVOKED', 'tls_revoked'],
    ['CA_MD_TOO_WEAK', 'tls_weak_key'],
    ['INVALID_PURPOSE', 'tls_untrusted'],
    ['SOMETHING_NEW', 'tls_untrusted'],
    ['toString', 'tls_untrusted'],
  ])('turns %s into %s', (verifyCode, code) => {
    const failure = classifyCertificate(verifyCode);

    expect(failure).toMatchObject({ code, phase: 'tls', source: 'target' });
    expect(problemsOf(failure)).toEqual([]);
  });

  it('has only rows that say something about TLS', () => {
    expect(Object.values(certificateVerdicts).filter(({ code }) => !code.startsWith('tls_'))).toEqual([]);
  });
});

describe('the classifier of HTTP/2 errors that a peer gave', () => {
  it.each<[string, 'RST_STREAM' | 'GOAWAY', number, string, Failure['code']]>([
    ['an end without an error', 'RST_STREAM', 0, 'NO_ERROR', 'http2_ended'],
    ['a protocol error of the peer’s finding', 'RST_STREAM', 1, 'PROTOCOL_ERROR', 'http2_ended'],
    ['a refused stream', 'RST_STREAM', 7, 'REFUSED_STREAM', 'http2_ended'],
    ['a cancelled stream', 'RST_STREAM', 8, 'CANCEL', 'http2_ended'],
    ['a server that wants calm', 'GOAWAY', 11, 'ENHANCE_YOUR_CALM', 'http2_ended'],
    ['a server that wants HTTP/1.1', 'RST_STREAM', 13, 'HTTP_1_1_REQUIRED', 'protocol_unreachable'],
    ['an unknown code', 'GOAWAY', 99, '0x63', 'http2_ended'],
  ])('names the code: %s', (_reason, frame, number, name, code) => {
    const failure = classifyPeerError({ frame, code: number, name }, 'request');

    expect(failure).toMatchObject({ code, phase: 'request', source: 'target' });
    expect(failure.message).toContain(`${frame === 'GOAWAY' ? 'connection' : 'stream'} with ${name} (${number})`);
    expect(problemsOf(failure)).toEqual([]);
  });
});

describe('an alert of the peer', () => {
  it.each([
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', true],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', true],
    ['ERR_SSL_DECODE_ERROR', false],
    ['ECONNRESET', false],
  ])('is distinguished from a fault found on this side: %s, %s', (code, expected) => {
    expect(isAlert(Object.assign(new Error('x'), { code }))).toBe(expected);
    expect(isAlert({ code })).toBe(false);
  });
});

describe('the word for a result', () => {
  it.each([
    ['silence', timedOut('connect'), 'timeout'],
    ['a target that refuses', connectionClosed('tls'), 'failure'],
    ['a head over the bound', headTooLarge('response'), 'failure'],
    ['a fault of the probe', classifyError('boom', 'exec'), 'error'],
  ])('follows from the failure: %s', (_reason, failure, word) => {
    expect(outcomeOf(failure)).toBe(word);
    expect(problemsOf(failure)).toEqual([]);
  });
});

function problemsOf(failure: Failure): readonly unknown[] {
  return [...Value.Errors(failureSchema, failure)];
}
