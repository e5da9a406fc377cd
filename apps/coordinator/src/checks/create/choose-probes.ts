import { createHash } from 'node:crypto';

import { NO_ACCESS } from '../../probes/enrolment/agent-access.ts';
import type { ProbeDirectory } from '../../probes/registry/probe-directory.ts';
import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import type { ProbeSelector, Selection } from '../../probes/selection/select-probes.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import { QueuesFull, RecordsLost } from '../../redis/store-errors.ts';
import type { AcceptedRequest, Unselected } from '../checks.ts';
import type { CheckScreenshots } from '../screenshots/screenshots.ts';
import type { CheckTypes } from '../store/check-type-cache.ts';
import { drawId } from './draw-id.ts';
import type { ProbeCapacity } from './probe-capacity.ts';
import type { Chosen } from './start-check.ts';

export interface ChooseDependencies {
  readonly selector: ProbeSelector;
  readonly directory: Pick<ProbeDirectory, 'probes' | 'isEmptied'>;
  readonly types: CheckTypes;
  readonly load: Pick<ProbeCapacity, 'hasCapacity'>;
  readonly writes: Pick<WriteWatch, 'requireWrites'>;
  readonly screenshots: Pick<CheckScreenshots, 'plan'>;
}

export type ChosenCheck = Omit<Chosen, 'client' | 'first'> & { readonly id: string };

/**
 * Selects the probes of a check, and the one that takes its screenshot.
 *
 * @throws QueuesFull as `Checks.select`
 */
export async function chooseProbes(
  dependencies: ChooseDependencies,
  request: AcceptedRequest,
  givenId: string | undefined,
): Promise<ChosenCheck | Unselected> {
  const { directory, types, screenshots, writes } = dependencies;
  // Checked before the selection: while Redis refuses writes, it refuses heartbeats too, so that every probe would look
  // offline.
  writes.requireWrites();
  const known = await directory.probes();
  // Checked before the selection: a named probe may be unknown only because Redis lost the records of all probes.
  if (directory.isEmptied()) throw new RecordsLost('Redis has the record of no probe any more.');
  const { selection, busy } = selectWithCapacity(dependencies, known, request);
  if (!selection.selected) {
    const { selected: _, ...refusal } = selection;
    return { created: false, ...refusal };
  }
  const id = givenId ?? drawId();
  types.remember(id, request.checkType);
  const selected = dependencies.selector.find(known, selection.probes);
  const wanted = request.checkType.screenshot?.(request.params);
  const free = selected.filter(({ record }) => !busy.includes(record.id));
  const screenshot = wanted === undefined ? undefined : screenshots.plan(wanted, free, selection.probes);
  const once = givenId !== undefined;
  const atGateways = selected.filter(mayBeAtGateway).map(({ record }) => record.id);
  const emptyLocations = [...(request.unknownLocations ?? []), ...(selection.emptyLocations ?? [])];
  const empty = emptyLocations.length === 0 ? {} : { emptyLocations };
  return { ...selection, ...empty, id, busy, atGateways, screenshot, once };
}

interface WithCapacity {
  readonly selection: Selection;
  /** Named probes that are online and have no capacity. */
  readonly busy: readonly string[];
}

/**
 * Selects probes with capacity. Probes that the client named are all selected, even busy ones, if one of those that are
 * online has capacity, or none is online. With `needed`, one of those probes must be online and have capacity.
 *
 * @throws QueuesFull if this does not hold for named probes, or if there is no selection of others with capacity
 */
function selectWithCapacity(
  { load, selector }: ChooseDependencies,
  known: readonly KnownProbe[],
  { checkType: { type }, limit, probes, needed, locations, steadyBy }: AcceptedRequest,
): WithCapacity {
  // Equally good probes are ordered at random for each check, to spread the load. With `steadyBy`, a hash of that text
  // orders them and their load does not count, so that equal texts give the same order.
  const order =
    steadyBy === undefined ? { tieBreak: 'random' as const } : { tieBreak: rankBy(steadyBy), ignoresLoad: true };
  const asked = { type, limit, probes, locations, ...order };
  const selection = selector.select(known, asked);
  if (!selection.selected) return { selection, busy: [] };
  const online = selector.find(known, selection.probes).filter(({ record }) => !selection.offline.has(record.id));
  const busy = online.filter((probe) => !load.hasCapacity(probe, type)).map(({ record }) => record.id);
  if (busy.length === 0 && needed === undefined) return { selection, busy };
  const isNeeded = ({ record: { id } }: KnownProbe): boolean => needed === undefined || needed.includes(id);
  if (probes !== undefined && online.some((probe) => isNeeded(probe) && !busy.includes(probe.record.id))) {
    return { selection, busy };
  }
  if (probes === undefined) {
    const others = selector.select(known, { ...asked, isEligible: (probe) => load.hasCapacity(probe, type) });
    if (others.selected) return { selection: others, busy: [] };
  }
  throw new QueuesFull(`The probes have as many ${type} checks to do as they can end on time.`);
}

/** Returns a function that ranks probes pseudo-randomly, with the same ranks for the same text. */
function rankBy(text: string): (probe: string) => number {
  return (probe) => createHash('sha256').update(`${text}\n${probe}`).digest().readUInt32BE();
}

/** True unless the probe's agent writes its heartbeat to Redis itself and has no access to gateways. */
function mayBeAtGateway({ heartbeat, access = NO_ACCESS }: KnownProbe): boolean {
  return heartbeat === undefined || heartbeat.gateway !== undefined || access.state !== 'none';
}
