import type { StreamEvent } from './history.ts';
import { breakRule, type Tally } from './ledger.ts';
import { comparable, idOf, type CheckHistory, type SeenCheck } from './seen.ts';

/**
 * A client that resumes with `Last-Event-ID` receives no state twice, all in order, and each probe's final result
 * before the end, as if its streams of a check were one.
 */
export function verifyEvents({ start, answers, events }: CheckHistory, tally: Tally): void {
  const wrong = (text: string): void => breakRule(tally, 'events', `${idOf(start)}: ${text}`);
  const shown = new Map<string, { readonly id: number; readonly text: string }>();
  let newest = -1;
  let ended = false;
  let stream: number | undefined;
  for (const event of events) {
    if (event.stream !== stream) {
      stream = event.stream;
      const { lastEventId } = answers.find(({ number }) => number === stream) ?? {};
      // A new client without any known state.
      if (lastEventId === undefined) {
        shown.clear();
        newest = -1;
        ended = false;
      } else if (lastEventId !== newest) wrong(`stream ${stream} resumes at ${lastEventId} and not at ${newest}`);
    }
    if (ended) wrong(`${event.name} ${event.id} came after the end`);
    if (event.id < newest) wrong(`event ${event.id} came after ${newest}`);
    if (event.name === 'completed') {
      ended = true;
      if (event.id <= newest) wrong(`the end has the id ${event.id} of an event before`);
      verifyEnd(event, shown, wrong);
    } else {
      const { probe, result } = event.data as { readonly probe: string; readonly result: object };
      const before = shown.get(probe);
      if (before !== undefined && event.id <= before.id) wrong(`${probe} was sent ${event.id} again`);
      shown.set(probe, { id: event.id, text: comparable(result) });
    }
    newest = Math.max(newest, event.id);
  }
}

/** The last event repeats the final state of each probe, and contains nothing that was not sent before. */
function verifyEnd(
  { data }: StreamEvent,
  shown: ReadonlyMap<string, { readonly text: string }>,
  wrong: (text: string) => void,
): void {
  for (const [probe, result] of Object.entries((data as SeenCheck).results)) {
    const last = shown.get(probe)?.text;
    if (last === undefined) wrong(`the end came without an event of ${probe}`);
    else if (last !== comparable(result)) wrong(`the end came without the last state of ${probe}, which was ${last}`);
  }
}
