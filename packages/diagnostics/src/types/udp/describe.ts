import type { Description } from '../../shared/description.ts';
import { count, ms, portDetails, told } from '../../shared/result-text.ts';
import type { udp } from './contract.ts';

export const description: Description<typeof udp> = {
  line: ({ state, rt, responseBytes }) => [
    told(state),
    told(rt, ms),
    told(responseBytes, (bytes) => count(bytes, 'byte')),
  ],
  details: portDetails,
};
