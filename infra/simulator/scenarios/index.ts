import type { Scenario } from '../scenario.ts';
import { balance } from './balance.ts';
import { circles } from './circles.ts';
import { lengths } from './lengths.ts';
import { loss } from './loss.ts';
import { oddities } from './oddities.ts';
import { refusals } from './refusals.ts';
import { silence } from './silence.ts';
import { sizes } from './sizes.ts';
import { targets } from './targets.ts';

export const scenarios: readonly Scenario[] = [
  ...lengths,
  ...silence,
  ...balance,
  ...loss,
  ...refusals,
  ...circles,
  ...sizes,
  ...oddities,
  ...targets,
];
