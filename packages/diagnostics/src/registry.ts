import { dns } from './dns/contract.ts';
import { http } from './http/contract.ts';
import { info } from './info/contract.ts';
import { ping } from './ping/contract.ts';
import { tcp } from './tcp/contract.ts';
import { traceroute } from './traceroute/contract.ts';
import { udp } from './udp/contract.ts';

/** Every check type: one folder with its name beside this file, and one line here. A test holds the two equal. */
export const checkTypes = {
  dns,
  http,
  info,
  ping,
  tcp,
  traceroute,
  udp,
} as const;
