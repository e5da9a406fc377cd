import { GATEWAY_PATH } from '@vantage/contract';

import { HttpProblem } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';

/** Refuses a request at the path of the gateway that asks for no WebSocket, or whose upgrade a proxy has dropped. */
export const requireUpgrade: Endpoint = {
  path: GATEWAY_PATH,
  method: 'GET',
  answer: () => {
    throw new HttpProblem('upgrade-required', 'Agents connect here by WebSocket.', {
      headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
    });
  },
};
