import type { checkTypes } from './registry.ts';
import type { Description } from './shared/description.ts';
import { description as dns } from './types/dns/describe.ts';
import { description as http } from './types/http/describe.ts';
import { description as info } from './types/info/describe.ts';
import { description as ping } from './types/ping/describe.ts';
import { description as tcp } from './types/tcp/describe.ts';
import { description as traceroute } from './types/traceroute/describe.ts';
import { description as udp } from './types/udp/describe.ts';

export type { DescribedResult } from './shared/description.ts';

/** Terminal texts of every check type of the registry. */
export const descriptions: { readonly [T in keyof typeof checkTypes]: Description<(typeof checkTypes)[T]> } = {
  dns,
  http,
  info,
  ping,
  tcp,
  traceroute,
  udp,
};
