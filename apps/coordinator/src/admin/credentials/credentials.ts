import { agentUser, type ProbeRecord } from '@vantage/contract';

import type { AdminResult } from '../output.ts';
import {
  agreedUser,
  currentUser,
  endConnections,
  hashPassword,
  newPassword,
  noneDid,
  writeUser,
} from '../../probes/access/redis-users.ts';
import { destinationFor, environmentFor, handedOver, handOver, type Handover } from './handover.ts';
import { outcome, type AdminParts } from './outcome.ts';

/** Writes the user, then the record. An existing user keeps its passwords. */
export async function addProbe(parts: AdminParts, record: ProbeRecord, handover: Handover): Promise<AdminResult> {
  const { id } = record;
  const before = await agreedUser(parts.nodes, id);
  const destination = destinationFor(handover.envFile, id);
  if (destination.taken !== undefined && before === undefined && destination.password === undefined) {
    throw new Error(`${destination.taken} is there already and is no environment file of ${id}`);
  }
  const inFile = destination.password === undefined ? [] : [hashPassword(destination.password)];
  // If Redis has lost the user, the password in the file becomes valid again; if the user has other passwords, that in
  // the file is void.
  const known = before?.hashes ?? inFile;
  const isVoid = inFile.some((hash) => !known.includes(hash));
  const password = known.length === 0 ? newPassword() : undefined;
  const hashes = password === undefined ? known : [hashPassword(password)];
  const made =
    password === undefined ? undefined : await environmentFor(destination, parts.config, id, password, handover);
  const nodes = await writeUser(parts.nodes, id, { on: before?.on ?? true, hashes }, parts);
  if (noneDid(nodes)) {
    destination.file?.drop();
    return { said: [`The user of ${id} could not be written.`], warnings: [], done: false, nodes };
  }
  await parts.records.write(record);
  return {
    ...handOver(made?.environment, destination),
    said: [
      `Probe ${id} is recorded. Its agent is the Redis user ${agentUser(id)}.`,
      ...(made?.said ?? []),
      ...(password === undefined ? ['It keeps its password; probe:rotate makes a new one.'] : handedOver(handover)),
    ],
    ...(await outcome(parts, nodes, [
      ...(made?.warnings ?? []),
      ...(isVoid
        ? [`The password in ${destination.taken} was replaced and does not hold: probe:rotate makes a new one.`]
        : []),
    ])),
  };
}

/**
 * @param manner `at-once` revokes all old passwords, `overlap` all but the newest; `finish` makes no new password and
 * revokes all but the newest
 */
export async function rotatePassword(
  parts: AdminParts,
  id: string,
  manner: 'at-once' | 'overlap' | 'finish',
  handover: Handover,
): Promise<AdminResult> {
  const before = await (manner === 'at-once' ? currentUser : agreedUser)(parts.nodes, id);
  if (before === undefined) return { said: [`There is no Redis user of a probe ${id}.`], warnings: [], done: false };
  const newest = before.hashes.slice(-1);
  if (manner === 'finish') {
    const nodes = await writeUser(parts.nodes, id, { ...before, hashes: newest }, parts);
    if (noneDid(nodes)) return { said: [`The passwords of ${id} are as they were.`], warnings: [], done: false, nodes };
    await endConnections(parts.nodes, id);
    const said = [`Only the newest password of ${id} holds.`];
    return { said, ...(await outcome(parts, nodes, [])) };
  }
  const destination = destinationFor(handover.envFile, id);
  if (destination.taken !== undefined) throw new Error(`${destination.taken} is there already`);
  const password = newPassword();
  const { environment, said, warnings } = await environmentFor(destination, parts.config, id, password, handover);
  const hashes = [...(manner === 'overlap' ? newest : []), hashPassword(password)];
  const nodes = await writeUser(parts.nodes, id, { ...before, hashes }, parts);
  if (noneDid(nodes)) {
    destination.file?.drop();
    return { said: [`The passwords of ${id} are as they were.`], warnings: [], done: false, nodes };
  }
  if (manner === 'at-once') await endConnections(parts.nodes, id);
  const old =
    manner === 'overlap'
      ? `The old one holds until probe:rotate ${id} --finish.`
      : 'The old one is void, and its connections are ended.';
  return {
    ...handOver(environment, destination),
    said: [`Probe ${id} has a new password. ${old}`, ...said, ...handedOver(handover)],
    ...(await outcome(
      parts,
      nodes,
      before.on ? warnings : [...warnings, `The user is switched off: probe:enable ${id}.`],
    )),
  };
}
