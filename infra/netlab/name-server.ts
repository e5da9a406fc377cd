import { addressBytes } from '@vantage/contract/address';
import { startDnsServer } from '@vantage/test-support/dns/server';
import { respond, wireName, type WireRecord } from '@vantage/test-support/dns/wire';
import { NAME_SERVER, names } from './names.ts';

/**
 * The name server of the lab: PTR records from `names`, and the addresses of those names. Ends with its standard
 * input.
 */
const TYPES = { a: 1, ptr: 12, aaaa: 28 } as const;

const records: readonly WireRecord[] = names.flatMap(({ address, name, leadsTo }) => {
  const bytes = addressBytes(leadsTo);
  return [
    { name: reverseName(address), type: TYPES.ptr, data: Uint8Array.from(wireName(name)) },
    { name: `${name}.`, type: bytes.length === 4 ? TYPES.a : TYPES.aaaa, data: bytes },
  ];
});

const server = await startDnsServer(
  (query) => {
    const own = records.filter(({ name }) => name === query.name);
    const answers = own.filter(({ type }) => type === query.type);
    return [respond(query, { answers, rcode: own.length === 0 ? 3 : 0 })];
  },
  { address: NAME_SERVER, port: 53 },
);
process.stdout.write('ready\n');
process.stdin.on('end', () => void server.close()).resume();

function reverseName(address: string): string {
  const bytes = [...addressBytes(address)].toReversed();
  if (bytes.length === 4) return `${bytes.join('.')}.in-addr.arpa.`;
  const nibbles = bytes.flatMap((byte) => [byte & 0xf, byte >> 4]).map((nibble) => nibble.toString(16));
  return `${nibbles.join('.')}.ip6.arpa.`;
}
