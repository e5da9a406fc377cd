/**
 * The parts of Chromium's ClientHello on which a handshake depends, by their numbers at IANA, as Chromium 156 sends
 * them. A test compares them with the ClientHello of the installed Chromium. Sources: of the groups
 * `services/network/public/mojom/ssl_config.mojom`, of the others `net/socket/ssl_client_socket_impl.cc`. The
 * signatures of ML-DSA, which it offers too, are not listed: no public authority issues certificates with such keys.
 */

/** Cipher suites: OpenSSL's name, and whether HTTP/2 permits it (RFC 9113 section 9.2.2). */
const suites: ReadonlyMap<number, readonly [name: string, http2: boolean]> = new Map([
  [0x1301, ['TLS_AES_128_GCM_SHA256', true]],
  [0x1302, ['TLS_AES_256_GCM_SHA384', true]],
  [0x1303, ['TLS_CHACHA20_POLY1305_SHA256', true]],
  [0xc02b, ['ECDHE-ECDSA-AES128-GCM-SHA256', true]],
  [0xc02f, ['ECDHE-RSA-AES128-GCM-SHA256', true]],
  [0xc02c, ['ECDHE-ECDSA-AES256-GCM-SHA384', true]],
  [0xc030, ['ECDHE-RSA-AES256-GCM-SHA384', true]],
  [0xcca9, ['ECDHE-ECDSA-CHACHA20-POLY1305', true]],
  [0xcca8, ['ECDHE-RSA-CHACHA20-POLY1305', true]],
  [0xc013, ['ECDHE-RSA-AES128-SHA', false]],
  [0xc014, ['ECDHE-RSA-AES256-SHA', false]],
  [0x009c, ['AES128-GCM-SHA256', false]],
  [0x009d, ['AES256-GCM-SHA384', false]],
  [0x002f, ['AES128-SHA', false]],
  [0x0035, ['AES256-SHA', false]],
]);

const groups: ReadonlyMap<number, string> = new Map([
  [0x11ec, 'X25519MLKEM768'],
  [0x001d, 'X25519'],
  [0x0017, 'P-256'],
  [0x0018, 'P-384'],
]);

const signatures: ReadonlyMap<number, string> = new Map([
  [0x0403, 'ecdsa_secp256r1_sha256'],
  [0x0804, 'rsa_pss_rsae_sha256'],
  [0x0401, 'rsa_pkcs1_sha256'],
  [0x0503, 'ecdsa_secp384r1_sha384'],
  [0x0805, 'rsa_pss_rsae_sha384'],
  [0x0501, 'rsa_pkcs1_sha384'],
  [0x0806, 'rsa_pss_rsae_sha512'],
  [0x0601, 'rsa_pkcs1_sha512'],
]);

/** What Chromium offers, by number, and as OpenSSL takes it. */
export const chromiumOffer = {
  suites: [...suites.keys()],
  groups: [...groups.keys()],
  signatures: [...signatures.keys()],
  context: {
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: `${[...suites.values()].map(([name]) => name).join(':')}:@SECLEVEL=0`,
    ecdhCurve: [...groups.values()].join(':'),
    sigalgs: [...signatures.values()].join(':'),
  },
} as const;

/** What a server chose in a handshake, by number; null if the handshake has none, or it could not be read. */
export interface Chosen {
  readonly suite: number | null;
  readonly group: number | null;
  /** Algorithm with which the server signed the handshake. */
  readonly signature: number | null;
}

/**
 * What the server chose and Chromium does not offer, in words; empty if Chromium offers all of it.
 *
 * @param cipher name of the cipher suite
 */
export function notOffered({ suite, group, signature }: Chosen, cipher: string): readonly string[] {
  return [
    suite === null || suites.has(suite) ? [] : [`the cipher suite ${cipher}`],
    group === null || groups.has(group) ? [] : [`the group ${otherGroups.get(group) ?? hex(group)}`],
    signature === null || signatures.has(signature)
      ? []
      : [`the signature algorithm ${otherSignatures.get(signature) ?? hex(signature)}`],
  ].flat();
}

/** True if Chromium ends an HTTP/2 connection with this cipher suite, which it offers. */
export function isProhibitedByHttp2({ suite }: Chosen): boolean {
  return suite !== null && suites.get(suite)?.[1] === false;
}

/** Names of other groups and signatures, for texts. */
const otherGroups: ReadonlyMap<number, string> = new Map([
  [0x0019, 'secp521r1'],
  [0x001e, 'X448'],
  [0x0100, 'ffdhe2048'],
  [0x0101, 'ffdhe3072'],
  [0x0102, 'ffdhe4096'],
  [0x0103, 'ffdhe6144'],
  [0x0104, 'ffdhe8192'],
  [0x0200, 'MLKEM512'],
  [0x0201, 'MLKEM768'],
  [0x0202, 'MLKEM1024'],
  [0x11eb, 'SecP256r1MLKEM768'],
  [0x11ed, 'SecP384r1MLKEM1024'],
]);
const otherSignatures: ReadonlyMap<number, string> = new Map([
  [0x0201, 'rsa_pkcs1_sha1'],
  [0x0202, 'dsa_sha1'],
  [0x0203, 'ecdsa_sha1'],
  [0x0301, 'rsa_pkcs1_sha224'],
  [0x0303, 'ecdsa_sha224'],
  [0x0603, 'ecdsa_secp521r1_sha512'],
  [0x0807, 'ed25519'],
  [0x0808, 'ed448'],
  [0x0809, 'rsa_pss_pss_sha256'],
  [0x080a, 'rsa_pss_pss_sha384'],
  [0x080b, 'rsa_pss_pss_sha512'],
]);

function hex(number: number): string {
  return `0x${number.toString(16).padStart(4, '0')}`;
}
