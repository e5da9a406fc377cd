import type { Chosen } from '../chromium-offer.ts';
import { recordDecryption, type DecryptRecord } from './record-decryption.ts';

/** Parts of a server's handshake that Node does not expose. */
export interface ServerFlight {
  /** All certificates that were sent, in DER and in their order: the server's own is the first. */
  readonly certificates: readonly Buffer[];
  /** True if the server requests a client certificate. */
  readonly asksForCertificate: boolean;
  /** Protocol selected by ALPN; `null` if none. */
  readonly alpn: string | null;
  readonly chosen: Chosen;
}

/** Types of records (RFC 8446 section 5.1). */
const records = { changeCipherSpec: 20, handshake: 22, applicationData: 23 } as const;
/** Types of handshake messages (RFC 8446 section 4). */
const messages = {
  serverHello: 2,
  encryptedExtensions: 8,
  certificate: 11,
  serverKeyExchange: 12,
  certificateRequest: 13,
  certificateVerify: 15,
} as const;
const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
/** Version and random of a ServerHello; the session id follows. */
const HELLO_BYTES = 34;

interface Message {
  readonly type: number;
  readonly body: Buffer;
}

interface Received {
  readonly type: number;
  readonly header: Buffer;
  readonly body: Buffer;
}

/**
 * Parses a server's handshake as far as it is complete and readable; for display only: OpenSSL verifies it.
 *
 * @param received bytes of the connection from its start
 * @param handshakeSecret `SERVER_HANDSHAKE_TRAFFIC_SECRET` of the connection; `null` if it is not known, and before
 *   TLS 1.3, where the handshake is not encrypted
 */
export function readServerFlight(received: Buffer, handshakeSecret: Buffer | null): ServerFlight {
  let certificates: readonly Buffer[] = [];
  let asksForCertificate = false;
  let alpn: string | null = null;
  let [suite, group, signature]: (number | null)[] = [];
  for (const { type, body } of messagesOf(received, handshakeSecret)) {
    if (type === messages.certificate) certificates = certificatesOf(body, handshakeSecret !== null);
    if (type === messages.certificateRequest) asksForCertificate = true;
    if (type === messages.serverHello) {
      const extensions = extensionsOf(body, HELLO_BYTES + 1 + (body[HELLO_BYTES] ?? 0) + 3);
      alpn ??= alpnOf(extensions);
      [suite, group] = [cipherSuiteOf(body), uint16(extensions.get(KEY_SHARE), 0)];
    }
    if (type === messages.encryptedExtensions) alpn ??= alpnOf(extensionsOf(body, 0));
    if (type === messages.serverKeyExchange) [group, signature] = curveAndSignatureOf(body);
    if (type === messages.certificateVerify) signature = uint16(body, 0);
  }
  const chosen = { suite: suite ?? null, group: group ?? null, signature: signature ?? null };
  return { certificates, asksForCertificate, alpn, chosen };
}

/** The extension with the group of TLS 1.3 (RFC 8446 section 4.2.8). */
const KEY_SHARE = 51;
/** A curve by its number (RFC 8422 section 5.4). */
const NAMED_CURVE = 3;

/**
 * Group and signature algorithm in the parameters of a named curve in TLS 1.2 (RFC 8422 section 5.4, RFC 5246 section
 * 7.4.3). Null for a finite field, of whose cipher suites Chromium offers none.
 */
function curveAndSignatureOf(body: Buffer): readonly [group: number | null, signature: number | null] {
  return body[0] === NAMED_CURVE ? [uint16(body, 1), uint16(body, 4 + (body[3] ?? 0))] : [null, null];
}

function uint16(bytes: Buffer | undefined, at: number): number | null {
  return bytes !== undefined && at + 2 <= bytes.length ? bytes.readUInt16BE(at) : null;
}

/** The secret in a line of the `keylog` event if it is that of the server's handshake, else `null`. */
export function handshakeSecretOf(line: Buffer): Buffer | null {
  const secret = /^SERVER_HANDSHAKE_TRAFFIC_SECRET [\da-f]+ ([\da-f]+)/i.exec(line.toString('latin1'))?.[1];
  return secret === undefined ? null : Buffer.from(secret, 'hex');
}

function messagesOf(received: Buffer, secret: Buffer | null): readonly Message[] {
  const all = [...recordsOf(received)];
  const firstEncrypted = all.findIndex(({ type }) => type === encryptedFrom(secret));
  const clear = all.slice(0, firstEncrypted === -1 ? all.length : firstEncrypted);
  const inClear = split(Buffer.concat(clear.flatMap(({ type, body }) => (type === records.handshake ? [body] : []))));
  const suite = inClear
    .flatMap(({ type, body }) => (type === messages.serverHello ? [cipherSuiteOf(body)] : []))
    .at(-1);
  if (secret === null || firstEncrypted === -1 || typeof suite !== 'number') return inClear;
  const decrypt = recordDecryption(suite, secret);
  return decrypt === null ? inClear : [...inClear, ...split(decrypted(all.slice(firstEncrypted), decrypt))];
}

/**
 * Type of the record at which the encrypted part begins: before TLS 1.3 everything after a ChangeCipherSpec is
 * encrypted; in TLS 1.3 that record has no meaning (RFC 8446 section 5), and encrypted records have the type of
 * application data.
 */
function encryptedFrom(secret: Buffer | null): number {
  return secret === null ? records.changeCipherSpec : records.applicationData;
}

/** Records after the handshake have other keys, so decryption ends there. */
function decrypted(encrypted: readonly Received[], decrypt: DecryptRecord): Buffer {
  const texts: Buffer[] = [];
  for (const { type, header, body } of encrypted) {
    if (type !== records.applicationData) continue;
    const text = plainText(decrypt(header, body));
    if (text === null) break;
    texts.push(text);
  }
  return Buffer.concat(texts);
}

function split(bytes: Buffer): readonly Message[] {
  const all: Message[] = [];
  for (let at = 0; at + MESSAGE_HEADER_BYTES <= bytes.length;) {
    const start = at + MESSAGE_HEADER_BYTES;
    const end = start + bytes.readUIntBE(at + 1, 3);
    if (end > bytes.length) break;
    all.push({ type: bytes[at]!, body: bytes.subarray(start, end) });
    at = end;
  }
  return all;
}

function* recordsOf(received: Buffer): Generator<Received> {
  for (let at = 0; at + RECORD_HEADER_BYTES <= received.length;) {
    const header = received.subarray(at, at + RECORD_HEADER_BYTES);
    const end = at + RECORD_HEADER_BYTES + header.readUInt16BE(3);
    if (end > received.length) return;
    yield { type: header[0]!, header, body: received.subarray(at + RECORD_HEADER_BYTES, end) };
    at = end;
  }
}

/** Content of a decrypted record without padding and type (RFC 8446 section 5.2); `null` if it is no handshake. */
function plainText(text: Buffer | null): Buffer | null {
  const last = text?.findLastIndex((byte) => byte !== 0) ?? -1;
  return text !== null && last >= 0 && text[last] === records.handshake ? text.subarray(0, last) : null;
}

function cipherSuiteOf(hello: Buffer): number | null {
  return uint16(hello, HELLO_BYTES + 1 + (hello[HELLO_BYTES] ?? 0));
}

/** TLS 1.3 puts a context before the list and extensions behind each certificate (RFC 8446 section 4.4.2). */
function certificatesOf(body: Buffer, isTls13: boolean): readonly Buffer[] {
  const certificates: Buffer[] = [];
  let at = 3 + (isTls13 ? 1 + (body[0] ?? 0) : 0);
  while (at + 3 <= body.length) {
    const end = at + 3 + body.readUIntBE(at, 3);
    if (end > body.length) break;
    certificates.push(body.subarray(at + 3, end));
    at = end;
    if (isTls13) at += at + 2 <= body.length ? 2 + body.readUInt16BE(at) : 2;
  }
  return certificates;
}

/** The extensions whose list begins at a position of a message, by their numbers. */
function extensionsOf(body: Buffer, start: number): ReadonlyMap<number, Buffer> {
  const extensions = new Map<number, Buffer>();
  for (let at = start + 2; at + 4 <= body.length;) {
    const end = at + 4 + body.readUInt16BE(at + 2);
    if (end > body.length) break;
    extensions.set(body.readUInt16BE(at), body.subarray(at + 4, end));
    at = end;
  }
  return extensions;
}

/** The selected protocol, from a list with one name (RFC 7301 section 3.1); null if the extension is absent. */
function alpnOf(extensions: ReadonlyMap<number, Buffer>): string | null {
  const ALPN = 16;
  const list = extensions.get(ALPN);
  const name = list?.subarray(3, 3 + (list[2] ?? 0)).toString('latin1') ?? '';
  return name === '' ? null : name;
}
