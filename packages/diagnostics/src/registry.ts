import { dns } from './types/dns/contract.ts';
import { http } from './types/http/contract.ts';
import { info } from './types/info/contract.ts';
import { ping } from './types/ping/contract.ts';
import { tcp } from './types/tcp/contract.ts';
import { traceroute } from './types/traceroute/contract.ts';
import { udp } from './types/udp/contract.ts';

/** Every check type: one folder with its name in `types/`, and one line here. A test compares the two. */
export const checkTypes = {
  dns,
  http,
  info,
  ping,
  tcp,
  traceroute,
  udp,
} as const;
