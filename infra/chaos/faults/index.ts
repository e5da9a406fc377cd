import { setTimeout as sleep } from 'node:timers/promises';

import { CONTROL } from '../seen.ts';
import { clients } from './clients.ts';
import { clocks } from './clocks.ts';
import { controlGroups } from './control-groups.ts';
import { deaths } from './deaths.ts';
import { descriptors } from './descriptors.ts';
import { failOvers } from './fail-overs.ts';
import type { Fault } from './fault.ts';
import { gateways } from './gateways.ts';
import { lines } from './lines.ts';
import { localPorts } from './local-ports.ts';
import { masters } from './masters.ts';
import { resolvers } from './resolvers.ts';
import { standStills } from './stand-stills.ts';
import { stolenLogins } from './stolen-logins.ts';
import { storeFaults } from './store-faults.ts';

export type { Fault } from './fault.ts';

const control: Fault = { name: CONTROL, inject: ({ scale }) => sleep(10_000 * scale) };

export const faults: readonly Fault[] = [
  control,
  ...deaths,
  ...standStills,
  ...descriptors,
  ...localPorts,
  ...controlGroups,
  ...storeFaults,
  ...lines,
  ...gateways,
  ...resolvers,
  ...clocks,
  ...clients,
  ...stolenLogins,
  ...failOvers,
  ...masters,
];
