import type { Family } from '@vantage/contract';
import type { RawSocket } from 'raw-socket';

/**
 * Levels and names of the filter options (`bits/socket.h`, `linux/icmp.h`, `linux/in6.h`, `linux/icmpv6.h`). A set bit
 * of either filter drops a type.
 */
const LINUX = { SOL_RAW: 255, ICMP_FILTER: 1, IPPROTO_ICMPV6: 58, ICMPV6_FILTER: 1 } as const;
const FILTER_BYTES = { 4: 4, 6: 32 } as const;

/**
 * Lets the kernel drop ICMP messages of other types: echo requests of other probes and neighbour discovery would wake
 * the process. Types above 31 pass the filter of IPv4. Without a filter the process itself drops them.
 */
export function filterIcmp(socket: RawSocket, family: Family, types: readonly number[]): void {
  const filter = new Uint32Array(FILTER_BYTES[family] / 4).fill(0xffff_ffff);
  for (const type of types) filter[type >> 5]! &= ~(1 << (type & 31));
  const [level, option] =
    family === 4 ? [LINUX.SOL_RAW, LINUX.ICMP_FILTER] : [LINUX.IPPROTO_ICMPV6, LINUX.ICMPV6_FILTER];
  try {
    socket.setOption(level, option, Buffer.from(filter.buffer), filter.byteLength);
  } catch {
    // A sandbox such as gVisor may not have it.
  }
}
