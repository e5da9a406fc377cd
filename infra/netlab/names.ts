import { ipv4, ipv6 } from './topology.ts';

/** Address of the name server, on r1. */
export const NAME_SERVER = ipv4(1, 2);

/** PTR names of the lab: r1 and the target have correct ones, r2 has the name of another machine, r3 has none. */
export const names = [ipv4, ipv6].flatMap((address) => [
  { address: address(1, 2), name: 'r1.example.net', leadsTo: address(1, 2) },
  { address: address(2, 2), name: 'elsewhere.example.net', leadsTo: address(90, 1) },
  { address: address(4, 2), name: 'target.example.net', leadsTo: address(4, 2) },
]);
