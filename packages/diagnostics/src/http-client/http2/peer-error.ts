import { STREAM } from './frame-faults.ts';

/** The error with which the peer ended a stream (RST_STREAM) or the connection (GOAWAY). */
export interface PeerError {
  readonly frame: 'RST_STREAM' | 'GOAWAY';
  readonly code: number;
  readonly name: string;
  /** Debug data of GOAWAY, one character per byte. */
  readonly debug: string | null;
  /** True for REFUSED_STREAM, and for NO_ERROR in a GOAWAY that leaves the request out: it may be repeated. */
  readonly isUnprocessed: boolean;
}

/** Names of the error codes (RFC 9113 section 7). */
const errorNames = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const;

/** @param payload of RST_STREAM, four bytes */
export function readReset(payload: Buffer): PeerError {
  const code = payload.readUInt32BE(0);
  const name = errorName(code);
  return { frame: 'RST_STREAM', code, name, debug: null, isUnprocessed: name === 'REFUSED_STREAM' };
}

/** @returns undefined if the payload of GOAWAY is too short (RFC 9113 section 6.8) */
export function readGoaway(payload: Buffer): { readonly error: PeerError; readonly isTakenUp: boolean } | undefined {
  if (payload.length < 8) return undefined;
  const [lastStream, code] = [payload.readUInt32BE(0) & 0x7fff_ffff, payload.readUInt32BE(4)];
  const name = errorName(code);
  const isTakenUp = lastStream >= STREAM;
  const debug = payload.length === 8 ? null : payload.subarray(8).toString('latin1');
  return {
    error: { frame: 'GOAWAY', code, name, debug, isUnprocessed: !isTakenUp && name === 'NO_ERROR' },
    isTakenUp,
  };
}

function errorName(code: number): string {
  return errorNames[code] ?? `0x${code.toString(16)}`;
}
