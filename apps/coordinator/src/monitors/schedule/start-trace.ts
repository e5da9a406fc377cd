import type { Checks } from '../../checks/checks.ts';
import type { Log } from '../../redis/log.ts';
import type { MonitorDefinition, ReadDefinition, StoredMonitor } from '../definition.ts';
import type { MonitorState } from '../state/monitor-state.ts';
import { probesToTrace, readTrace } from './trace-request.ts';

export interface TraceDependencies {
  readonly create: Checks['create'];
  readonly readDefinition: ReadDefinition;
  readonly log: Log;
}

/**
 * Starts the traceroute that follows a change to bad. Never rejects, because the change must be written and sent
 * without it too.
 *
 * @param id the same if another coordinator evaluates the tick too, so that there is one traceroute
 * @returns its id; null if the target cannot be traced, or the traceroute could not be started
 */
export async function startTrace(
  { create, readDefinition, log }: TraceDependencies,
  definition: MonitorDefinition,
  state: MonitorState,
  allow: StoredMonitor['allow'],
  id: string,
): Promise<string | null> {
  const { failing, working } = probesToTrace(state);
  const probes = [...failing, ...working];
  const request = failing.length === 0 ? undefined : readTrace(readDefinition, definition, probes, allow);
  if (request?.valid !== true) return null;
  const monitor = definition.name;
  try {
    // Without a failing probe there is nothing to compare.
    const creation = await create({ ...request.definition.accepted, needed: failing }, 'monitors', id);
    if (creation.created) return creation.checkId;
    log.warn({ monitor, reason: creation.reason }, 'traceroute of a monitor was not started');
  } catch (error) {
    log.warn({ monitor, error }, 'traceroute of a monitor was not started');
  }
  return null;
}
