import { decodeNotification, HEARTBEAT_NOTIFICATION, isOversizedNotification } from '@vantage/contract';

import type { ProbeService } from '../../probes/probe-service.ts';
import type { Store } from '../../redis/open-store.ts';
import type { Ingest } from './ingest.ts';

/** A probe counts as active for this long after a notification that it has written to its stream. */
const ACTIVE_MS = 15_000;

/**
 * Handles the notifications of probes: commits an inline result, notes a changed heartbeat, or drains the stream.
 * Drains all streams after each subscription at Redis and when the gate opens.
 */
export function followNotifications(
  { gate, channels }: Store,
  { directory, oversize, notifications }: ProbeService,
  ingest: Ingest,
): void {
  const drainAll = async (): Promise<void> => {
    await Promise.all([...directory.ids()].map((probe) => ingest.drain(probe)));
  };
  channels.onNotification((probe, said = '') => {
    if (probe === undefined) {
      directory.noteAllChanged();
      void drainAll();
      return;
    }
    // An unknown probe is found by the next refresh of the directory.
    if (!directory.ids().has(probe)) return;
    notifications.note(probe);
    if (said === HEARTBEAT_NOTIFICATION) {
      directory.noteChanged(probe);
      return;
    }
    directory.noteActive([probe], ACTIVE_MS);
    if (isOversizedNotification(said)) oversize.note(probe);
    const note = decodeNotification(said);
    if (note === undefined) void ingest.drain(probe);
    else ingest.commitInline(probe, note);
  });
  // After an outage, results written during it still count for a grace period; notifications of them may have been
  // missed.
  gate.onOpen(() => void drainAll());
}
