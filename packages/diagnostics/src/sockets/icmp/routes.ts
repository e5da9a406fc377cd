import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

export interface Route {
  readonly network: Uint8Array;
  /** Length of the prefix. */
  readonly bits: number;
  /** Among routes to one network, the one with the lowest metric applies. */
  readonly metric: number;
  readonly hasRouter: boolean;
  readonly device: string;
}

/** Flags of routes (`linux/route.h`). */
const [RTF_GATEWAY, RTF_REJECT] = [0x2, 0x200];

/** Larger tables, such as a full BGP table, are not read: that would take seconds. */
const MAX_BYTES = 128 * 1_024;

/**
 * The routes of the kernel, except those that refuse packets: of IPv4 the main table, of IPv6 all tables. None on other
 * systems than Linux.
 *
 * @param folder with the files `route` and `ipv6_route`
 */
export function readRoutes(folder: string): readonly Route[] {
  const linesOf = (file: string): readonly string[] => readBounded(`${folder}/${file}`).split('\n');
  return [...linesOf('route').slice(1).flatMap(routeOfLine4), ...linesOf('ipv6_route').flatMap(routeOfLine6)];
}

function routeOfLine4(line: string): readonly Route[] {
  const [device, network, , flags, , , metric, mask] = line.trim().split(/\s+/);
  if (device === undefined || network === undefined || mask === undefined) return [];
  const bits = bytesOf4(mask).reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  return routeBy(flags, { network: bytesOf4(network), bits, metric: Number(metric), device });
}

function routeOfLine6(line: string): readonly Route[] {
  const [network, bits, , , , metric, , , flags, device] = line.trim().split(/\s+/);
  if (network === undefined || bits === undefined || device === undefined) return [];
  return routeBy(flags, {
    network: Buffer.from(network, 'hex'),
    bits: Number.parseInt(bits, 16),
    metric: Number.parseInt(metric ?? '', 16),
    device,
  });
}

function routeBy(flagsText: string | undefined, route: Omit<Route, 'hasRouter'>): readonly Route[] {
  const flags = Number.parseInt(flagsText ?? '', 16);
  return (flags & RTF_REJECT) === 0 ? [{ ...route, hasRouter: (flags & RTF_GATEWAY) !== 0 }] : [];
}

/** The kernel writes an address as a number in the byte order of the machine. */
function bytesOf4(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'hex');
  return endianness() === 'LE' ? bytes.swap32() : bytes;
}

/** The text of a file; empty if it cannot be read or is longer than `MAX_BYTES`. */
function readBounded(path: string): string {
  const buffer = Buffer.alloc(MAX_BYTES);
  let length = 0;
  try {
    const file = openSync(path, 'r');
    try {
      for (let read = 1; read > 0 && length < MAX_BYTES; length += read) {
        read = readSync(file, buffer, length, MAX_BYTES - length, null);
      }
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
  return length < MAX_BYTES ? buffer.toString('latin1', 0, length) : '';
}
