import { MessageFormatError, type Reader } from '@vantage/contract/dns-message';

import { hexGroups } from './text.ts';

/** Thousandths of an arc second from the equator to a pole. */
const QUARTER_TURN = 90 * 3_600_000;
/** Thousandths of an arc second from the prime meridian to the antimeridian. */
const HALF_TURN = 180 * 3_600_000;

/** Value that stands for the equator and the prime meridian. */
const ORIGIN = 0x80_00_00_00;
/** Depth below the reference spheroid at which stored altitudes have their zero, centimetres. */
const REFERENCE_ALTITUDE = 10_000_000;

/**
 * Formats the data of a LOC record (RFC 1876 section 2). Only version 0 is defined; others use the form of RFC 3597.
 */
export function locationData(data: Reader): string {
  const version = data.u8();
  if (version !== 0) {
    const rest = data.rest();
    return `\\# ${rest.length + 1} ${hexGroups(Uint8Array.of(version, ...rest))}`;
  }
  const precisions = [precision(data.u8()), precision(data.u8()), precision(data.u8())].join(' ');
  const latitude = angle(data.u32(), QUARTER_TURN, 'N', 'S');
  const longitude = angle(data.u32(), HALF_TURN, 'E', 'W');
  return `${latitude} ${longitude} ${altitude(data.u32())} ${precisions}`;
}

/** Formats in metres a size or precision, which is stored in centimetres as a digit and an exponent of ten. */
function precision(octet: number): string {
  const [digit, exponent] = [octet >> 4, octet & 0x0f];
  if (digit > 9 || exponent > 9) throw new MessageFormatError('a precision of a LOC record is out of range');
  if (exponent >= 2) return `${digit * 10 ** (exponent - 2)}m`;
  return `0.${String(digit * 10 ** exponent).padStart(2, '0')}m`;
}

function angle(value: number, limit: number, positive: string, negative: string): string {
  const offset = value - ORIGIN;
  const thousandths = Math.abs(offset);
  if (thousandths > limit) throw new MessageFormatError('an angle of a LOC record is out of range');
  const seconds = Math.floor(thousandths / 1000);
  const fraction = String(thousandths % 1000).padStart(3, '0');
  const degrees = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${degrees} ${minutes} ${seconds % 60}.${fraction} ${offset >= 0 ? positive : negative}`;
}

function altitude(value: number): string {
  const centimetres = Math.abs(value - REFERENCE_ALTITUDE);
  const text = `${Math.floor(centimetres / 100)}.${String(centimetres % 100).padStart(2, '0')}m`;
  return value < REFERENCE_ALTITUDE ? `-${text}` : text;
}
