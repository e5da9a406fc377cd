import type { AgentAccess } from '../probes/enrolment/agent-access.ts';
import type { Beats } from './beats.ts';
import type { AgentConnection } from './connection/connection.ts';

/** Starts the jobs of an approved agent, and disconnects one that may no longer work. */
export function applyAccess(connection: AgentConnection, now: AgentAccess, beats: Pick<Beats, 'remove'>): void {
  const { fingerprint, socket } = connection;
  const mayStay = now.state !== 'suspended' && now.state !== 'none' && now.key === fingerprint;
  if (mayStay) {
    if (now.state === 'approved') connection.approve();
    return;
  }
  connection.stopJobs();
  beats.remove(connection);
  socket.close(4403);
}
