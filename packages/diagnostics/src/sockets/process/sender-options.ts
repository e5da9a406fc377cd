import type { Family } from '@vantage/contract';
import type * as rawSocket from 'raw-socket';

/** From `linux/in.h`, `linux/in6.h` and `asm-generic/socket.h` of Linux. */
const LINUX = {
  IPPROTO_IP: 0,
  IPPROTO_IPV6: 41,
  SOL_SOCKET: 1,
  SO_RCVBUF: 8,
  IP_TOS: 1,
  IP_TTL: 2,
  IP_MTU_DISCOVER: 10,
  IPV6_UNICAST_HOPS: 16,
  IPV6_MTU_DISCOVER: 23,
  IPV6_DONTFRAG: 62,
  IPV6_TCLASS: 67,
  PMTUDISC_PROBE: 3,
} as const;

/**
 * Prepares a socket that only sends: the least receive buffer, and PMTUDISC_PROBE, which never fragments and ignores
 * the kernel’s cached path MTU, so that each packet tests the path itself.
 */
export function prepareSender(sender: rawSocket.RawSocket, family: Family): void {
  sender.setOption(LINUX.SOL_SOCKET, LINUX.SO_RCVBUF, 1);
  if (family === 4) return sender.setOption(LINUX.IPPROTO_IP, LINUX.IP_MTU_DISCOVER, LINUX.PMTUDISC_PROBE);
  sender.setOption(LINUX.IPPROTO_IPV6, LINUX.IPV6_MTU_DISCOVER, LINUX.PMTUDISC_PROBE);
  sender.setOption(LINUX.IPPROTO_IPV6, LINUX.IPV6_DONTFRAG, 1);
}

/** @returns a function that sets TTL and DSCP of the next packet, on change only */
export function headerWriter(sender: rawSocket.RawSocket, family: Family): (ttl: number, dscp: number) => void {
  const [level, ttlOption, classOption] =
    family === 4
      ? [LINUX.IPPROTO_IP, LINUX.IP_TTL, LINUX.IP_TOS]
      : [LINUX.IPPROTO_IPV6, LINUX.IPV6_UNICAST_HOPS, LINUX.IPV6_TCLASS];
  let writtenTtl: number | undefined;
  let writtenDscp = 0;
  return (ttl, dscp) => {
    if (ttl !== writtenTtl) sender.setOption(level, ttlOption, ttl);
    writtenTtl = ttl;
    if (dscp === writtenDscp) return;
    sender.setOption(level, classOption, dscp << 2);
    writtenDscp = dscp;
  };
}
