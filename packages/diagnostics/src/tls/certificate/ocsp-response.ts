import { bitsOf, contextTag, DerError, oidOf, onlyValue, tags, timeOf, valuesOf, type DerValue } from './der.ts';

/** An OCSP response (RFC 6960 section 4.2.1): status of some certificates, and the responder's signature. */
export interface OcspResponse {
  readonly answers: readonly OcspAnswer[];
  /** The signed bytes. */
  readonly signed: Uint8Array;
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
  /** Certificates of the responder in DER. */
  readonly certificates: readonly Uint8Array[];
}

/** The statement about one certificate. */
export interface OcspAnswer {
  readonly hashAlgorithm: string;
  readonly issuerNameHash: Uint8Array;
  readonly issuerKeyHash: Uint8Array;
  /** Content octets of the INTEGER, without tag and length. */
  readonly serialNumber: Uint8Array;
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  readonly revokedAt: Date | null;
  /** CRLReason (RFC 5280 section 5.3.1). */
  readonly reason: number | null;
}

/** Limit of a stapled response, far below that of RFC 6066 section 8. */
const MAX_BYTES = 64 * 1024;
const MAX_ANSWERS = 16;
const MAX_CERTIFICATES = 8;
const BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1';

/**
 * Parses a stapled response.
 *
 * @returns the response, or the error status of the responder
 * @throws {DerError} for a response that is malformed, too large or not of the basic type, and nothing else
 */
export function readOcspResponse(bytes: Uint8Array): OcspResponse | { readonly errorStatus: number } {
  if (bytes.length > MAX_BYTES) throw new DerError('The response is too large.');
  const [status, wrapped] = fieldsOf(onlyValue(bytes, tags.sequence), 2);
  expect(status, tags.enumerated);
  const responseStatus = status.content.length === 1 ? status.content[0]! : 255;
  if (responseStatus !== 0) return { errorStatus: responseStatus };

  expect(wrapped, contextTag(0));
  const [type, response] = fieldsOf(onlyValue(wrapped.content, tags.sequence), 2);
  if (type === undefined || oidOf(type) !== BASIC_RESPONSE) throw new DerError('The response is of an unknown type.');
  expect(response, tags.octetString);

  const [data, algorithm, signature, certificates] = fieldsOf(onlyValue(response.content, tags.sequence), 4);
  expect(data, tags.sequence);
  expect(algorithm, tags.sequence);
  expect(signature, tags.bitString);
  if (certificates !== undefined) expect(certificates, contextTag(0));
  return {
    answers: answersOf(data),
    signed: data.whole,
    signatureAlgorithm: algorithmOf(algorithm),
    signature: bitsOf(signature),
    certificates:
      certificates === undefined
        ? []
        : fieldsOf(onlyValue(certificates.content, tags.sequence), MAX_CERTIFICATES).map(({ whole }) => whole),
  };
}

/** ResponseData: version and responder first, which have context-specific tags, then the time and the answers. */
function answersOf(data: DerValue): readonly OcspAnswer[] {
  const answers = fieldsOf(data, 5).find(({ tag }) => tag === tags.sequence);
  expect(answers, tags.sequence);
  return fieldsOf(answers, MAX_ANSWERS).map(answerOf);
}

function answerOf(value: DerValue): OcspAnswer {
  expect(value, tags.sequence);
  const [id, status, thisUpdate, ...optional] = fieldsOf(value, 5);
  expect(id, tags.sequence);
  const [algorithm, nameHash, keyHash, serial] = fieldsOf(id, 4);
  expect(algorithm, tags.sequence);
  expect(nameHash, tags.octetString);
  expect(keyHash, tags.octetString);
  expect(serial, tags.integer);
  if (status === undefined || thisUpdate === undefined) throw new DerError('The answer breaks off.');
  const nextUpdate = optional.find(({ tag }) => tag === contextTag(0));
  return {
    hashAlgorithm: algorithmOf(algorithm),
    issuerNameHash: nameHash.content,
    issuerKeyHash: keyHash.content,
    serialNumber: serial.content,
    thisUpdate: timeOf(thisUpdate),
    nextUpdate: nextUpdate === undefined ? null : timeOf(onlyValue(nextUpdate.content, tags.generalizedTime)),
    ...statusOf(status),
  };
}

function statusOf(status: DerValue): Pick<OcspAnswer, 'status' | 'revokedAt' | 'reason'> {
  if (status.tag === contextTag(0, false)) return { status: 'good', revokedAt: null, reason: null };
  if (status.tag === contextTag(2, false)) return { status: 'unknown', revokedAt: null, reason: null };
  expect(status, contextTag(1));
  const [time, wrapped] = fieldsOf(status, 2);
  expect(time, tags.generalizedTime);
  const reason = wrapped === undefined ? undefined : onlyValue(wrapped.content, tags.enumerated).content;
  return { status: 'revoked', revokedAt: timeOf(time), reason: reason?.length === 1 ? reason[0]! : null };
}

function algorithmOf(algorithm: DerValue): string {
  const [oid] = fieldsOf(algorithm, 2);
  expect(oid, tags.oid);
  return oidOf(oid);
}

function fieldsOf({ content }: DerValue, atMost: number): readonly DerValue[] {
  return valuesOf(content, atMost);
}

function expect(value: DerValue | undefined, tag: number): asserts value is DerValue {
  if (value?.tag !== tag) throw new DerError(`There is no value with tag ${tag} where one belongs.`);
}
