import { MessageFormatError, type Reader } from '@vantage/contract/dns-message';

import { base64, escapeOctets, ipv4Text, ipv6Text, quoted } from './text.ts';

/** SVCB and HTTPS: RFC 9460 section 2.2. Keys of parameters are strictly ascending. */
export function serviceBindingData(data: Reader): string {
  const fields = [`${data.u16()} ${data.name()}`];
  let last = -1;
  while (data.remaining() > 0) {
    const key = data.u16();
    if (key <= last) throw new MessageFormatError('service parameters are not in ascending order');
    last = key;
    fields.push(parameter(key, data.slice(data.u16())));
  }
  return fields.join(' ');
}

interface ParameterFormat {
  readonly name: string;
  /** `null`: the parameter has no value. */
  readonly value: (data: Reader) => string | null;
}

/** Formats of the parameters by number (RFC 9460 section 14.3.2, RFC 9461 section 5). */
const formats: readonly ParameterFormat[] = [
  { name: 'mandatory', value: (data) => listOf(data, () => keyName(data.u16())) },
  { name: 'alpn', value: (data) => `"${listOf(data, () => listItem(data.characterString()))}"` },
  { name: 'no-default-alpn', value: () => null },
  { name: 'port', value: (data) => String(data.u16()) },
  { name: 'ipv4hint', value: (data) => listOf(data, () => ipv4Text(data.take(4))) },
  { name: 'ech', value: (data) => base64(data.rest()) },
  { name: 'ipv6hint', value: (data) => listOf(data, () => ipv6Text(data.take(16))) },
  { name: 'dohpath', value: (data) => quoted(data.rest()) },
];

function parameter(key: number, data: Reader): string {
  const value = formats[key] === undefined ? unknownValue(data) : formats[key].value(data);
  if (data.remaining() > 0) throw new MessageFormatError('a service parameter has more data than its key says');
  return value === null ? keyName(key) : `${keyName(key)}=${value}`;
}

function keyName(key: number): string {
  return formats[key]?.name ?? `key${key}`;
}

function unknownValue(data: Reader): string | null {
  return data.remaining() === 0 ? null : quoted(data.rest());
}

function listOf(data: Reader, next: () => string): string {
  const items = [next()];
  while (data.remaining() > 0) items.push(next());
  return items.join(',');
}

/**
 * RFC 9460 appendix A.1: a comma or backslash within an item is escaped for the list, then that escape for the string.
 */
function listItem(bytes: Uint8Array): string {
  if (bytes.length === 0) throw new MessageFormatError('a protocol name is empty');
  return escapeOctets(bytes, '"\\,').replaceAll('\\\\', '\\\\\\\\').replaceAll('\\,', '\\\\,');
}
