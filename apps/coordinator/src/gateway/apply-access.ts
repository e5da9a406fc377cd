import { RESUMED } from '@vantage/contract';

import type { AgentAccess } from '../probes/enrolment/agent-access.ts';
import type { Beats } from './beats.ts';
import type { AgentConnection } from './connection/connection.ts';

/**
 * Starts to give jobs to an approved agent. Disconnects an agent that may no longer work, whose key was replaced, or
 * that was suspended meanwhile.
 */
export function applyAccess(connection: AgentConnection, now: AgentAccess, beats: Pick<Beats, 'remove'>): void {
  const { fingerprint, suspensions, socket } = connection;
  const mayWork = now.state !== 'suspended' && now.state !== 'none' && now.key === fingerprint;
  if (mayWork && now.suspensions === suspensions) {
    if (now.state === 'approved') connection.approve();
    return;
  }
  connection.stopJobs();
  beats.remove(connection);
  socket.close(4403, mayWork ? RESUMED : '');
}
