import type { Description } from '../../shared/description.ts';
import { count, ms, portDetails, told } from '../../shared/result-text.ts';
import type { tcp } from './contract.ts';

export const description: Description<typeof tcp> = {
  line: ({ state, rt, attempts = [] }) => [
    told(state),
    told(rt, ms),
    attempts.length < 2 ? undefined : count(attempts.length, 'attempt'),
  ],
  details: portDetails,
};
