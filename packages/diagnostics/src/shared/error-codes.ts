import type { FailureCode, FailureSource } from '@vantage/contract';

/**
 * Meaning of an error code for a check. The texts are fixed, since those of Node and OpenSSL differ between versions.
 */
export interface ErrorMeaning {
  readonly code: FailureCode;
  readonly source: FailureSource;
  readonly message: string;
}

type Table = Readonly<Record<string, ErrorMeaning>>;

const closed = target('connection_closed', 'The target closed the connection.');
const noCommonVersion = target('tls_protocol_unsupported', 'Server and probe have no version of TLS in common.');
/** Message for errors of TLS that bytes of another protocol cause. */
export const NOT_TLS = 'What the server sent is not TLS.';
const notTls = target('tls_handshake_failed', NOT_TLS);
const alert = (message: string): ErrorMeaning => target('tls_handshake_failed', message);

/**
 * An OpenSSL server that requests renegotiation and is refused ends the connection with the alert handshake_failure.
 */
export const NEGOTIATES_AGAIN =
  'After the handshake the server wanted to negotiate again, such as for a certificate of the client; ' +
  'a probe does not.';

export const headersTooLarge = target('http_headers_too_large', 'The head of the answer is larger than a check reads.');

/**
 * Used for EADDRNOTAVAIL over IPv4 too: Linux reports a missing IPv4 address as ENETUNREACH, so the ports are used up.
 */
export const noPortLeft = probe('probe_busy', 'The probe has no local port left.');

/** Meaning by the errno of a system call for a socket, or by Node's own code for a connection that ended. */
export const socketVerdicts: Table = {
  ECONNREFUSED: target('connection_refused', 'The target refused the connection.'),
  ECONNRESET: target('connection_reset', 'The target reset the connection.'),
  ECONNABORTED: target('connection_reset', 'The connection was aborted.'),
  EPIPE: closed,
  ERR_STREAM_PREMATURE_CLOSE: closed,
  EHOSTUNREACH: network('host_unreachable', 'The host cannot be reached.'),
  EHOSTDOWN: network('host_unreachable', 'The host is down.'),
  ENETUNREACH: network('network_unreachable', 'There is no route to the network.'),
  ENETDOWN: network('network_unreachable', 'The network is down.'),
  ETIMEDOUT: network('timed_out', 'No reply arrived in time.'),
  EMSGSIZE: network('packet_too_big', 'The packet is larger than the path carries.'),
  EPROTO: target('protocol_unreachable', 'The target does not speak the protocol.'),
  ENOPROTOOPT: target('protocol_unreachable', 'The target does not speak the protocol.'),
  EACCES: network('administratively_prohibited', 'A filter forbids the traffic.'),
  EPERM: network('administratively_prohibited', 'A filter forbids the traffic.'),
  EADDRNOTAVAIL: probe('family_unavailable', 'The probe has no address of this family.'),
  EADDRINUSE: noPortLeft,
  EAGAIN: probe('probe_busy', 'The system of the probe has no port, process or memory left.'),
  EAFNOSUPPORT: probe('family_unavailable', 'The probe does not speak this address family.'),
  EMFILE: probe('probe_busy', 'The probe has no file descriptor left.'),
  ENFILE: probe('probe_busy', 'The probe has no file descriptor left.'),
  ENOBUFS: probe('probe_busy', 'The probe has no buffer space left.'),
  ENOMEM: probe('probe_busy', 'The probe has no memory left.'),
};

/** “As a rule”, because some servers send this alert for other reasons, such as an unknown host name. */
export const NO_PARAMETERS =
  'The server ended the handshake with the alert “handshake failure”: as a rule it shares no cipher or parameters with the probe.';

/** Handshake failures by the codes of OpenSSL and Node; other codes of OpenSSL are a generic handshake failure. */
export const tlsVerdicts: Table = {
  ERR_SSL_UNSUPPORTED_PROTOCOL: noCommonVersion,
  ERR_SSL_UNKNOWN_PROTOCOL: noCommonVersion,
  ERR_SSL_NO_PROTOCOLS_AVAILABLE: noCommonVersion,
  ERR_SSL_WRONG_SSL_VERSION: noCommonVersion,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: noCommonVersion,
  ERR_TLS_PROTOCOL_VERSION_CONFLICT: noCommonVersion,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  ERR_SSL_HTTP_REQUEST: notTls,
  ERR_SSL_HTTPS_PROXY_REQUEST: notTls,
  ERR_SSL_RECORD_LAYER_FAILURE: notTls,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': alert(NO_PARAMETERS),
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: alert(NO_PARAMETERS),
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: alert('The server does not know the name of the host.'),
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: alert('The server failed in the handshake.'),
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: alert('The server requires a certificate of the client.'),
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: target(
    'protocol_unreachable',
    'The server speaks none of the protocols that were offered.',
  ),
  ERR_SSL_DH_KEY_TOO_SMALL: target('tls_weak_key', 'The Diffie-Hellman key of the server is too small.'),
  ERR_TLS_HANDSHAKE_TIMEOUT: network('timed_out', 'The TLS handshake took too long.'),
  ERR_TLS_RENEGOTIATION_DISABLED: target('tls_handshake_failed', 'The server asked for a renegotiation.'),
};

/** Errors after a completed handshake whose message explains more than the name of the alert. */
export const laterTlsVerdicts: Table = {
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: tlsVerdicts['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED']!,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': alert(NEGOTIATES_AGAIN),
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: alert(NEGOTIATES_AGAIN),
};

const expired = target('tls_expired', 'The certificate, or one above it, is past its end of validity.');
const notYetValid = target('tls_not_yet_valid', 'The certificate, or one above it, is not valid yet.');
const weak = target('tls_weak_key', 'A key or signature of the chain is too weak to be trusted.');
const unknownIssuer = target('tls_unknown_issuer', 'The certificate chain ends at an issuer that is not trusted.');
const hostMismatch = target('tls_hostname_mismatch', 'The certificate is not for this host.');

/** Meaning by the result of a certificate's verification: OpenSSL's name without `X509_V_ERR_`. */
export const certificateVerdicts: Table = {
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: notYetValid,
  ERROR_IN_CERT_NOT_BEFORE_FIELD: target('tls_untrusted', 'The start of validity of the certificate is no date.'),
  ERROR_IN_CERT_NOT_AFTER_FIELD: target('tls_untrusted', 'The end of validity of the certificate is no date.'),
  HOSTNAME_MISMATCH: hostMismatch,
  IP_ADDRESS_MISMATCH: hostMismatch,
  DEPTH_ZERO_SELF_SIGNED_CERT: target('tls_self_signed', 'The certificate is self-signed and not trusted.'),
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  CERT_UNTRUSTED: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_REVOKED: target('tls_revoked', 'The certificate is revoked.'),
  CERT_SIGNATURE_FAILURE: target('tls_untrusted', 'A signature of the certificate chain is wrong.'),
  CERT_CHAIN_TOO_LONG: target('tls_untrusted', 'The certificate chain is too long.'),
  INVALID_CA: target('tls_untrusted', 'A certificate of the chain may not issue others.'),
  PATH_LENGTH_EXCEEDED: target('tls_untrusted', 'The chain is longer than one of its certificates allows.'),
  INVALID_PURPOSE: target('tls_untrusted', 'The certificate is not meant for a server.'),
  CERT_REJECTED: target('tls_untrusted', 'The certificate is marked as not to be trusted.'),
  EE_KEY_TOO_SMALL: weak,
  CA_KEY_TOO_SMALL: weak,
  CA_MD_TOO_WEAK: weak,
};

function target(code: FailureCode, message: string): ErrorMeaning {
  return { code, source: 'target', message };
}

function network(code: FailureCode, message: string): ErrorMeaning {
  return { code, source: 'network', message };
}

function probe(code: FailureCode, message: string): ErrorMeaning {
  return { code, source: 'probe', message };
}
