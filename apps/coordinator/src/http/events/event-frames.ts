import type { EventName } from '@vantage/contract';

import type { Completion } from '../../checks/read/live-check.ts';
import type { ProbeState } from '../../checks/store/probe-state.ts';

/**
 * Id of the event `completed`: above that of every `probe` event. If Redis loses its last writes, version numbers are
 * reused, and that of the completion may be one that a client has already seen.
 */
export function completedId({ version }: Pick<Completion, 'version'>): number {
  return 1_000_000 + version;
}

/** Encoded events of checks, each shared by all streams that send it. */
export interface EventFrames {
  readonly probe: (id: string, state: ProbeState) => Buffer;
  readonly completed: (completion: Completion) => Buffer;
}

/** @param pathOfPicture returns the path of a check's screenshot */
export function createEventFrames(pathOfPicture: (id: string) => string): EventFrames {
  const made = new WeakMap<object, Buffer>();
  const once = (source: object, make: () => string): Buffer => {
    const known = made.get(source);
    if (known !== undefined) return known;
    const frame = Buffer.from(make());
    made.set(source, frame);
    return frame;
  };
  const resultOf = (id: string, { json, hasScreenshot }: ProbeState): string =>
    hasScreenshot ? `${json.slice(0, -1)},"screenshotUrl":${JSON.stringify(pathOfPicture(id))}}` : json;

  return {
    probe: (id, state) =>
      once(state, () => {
        const { probe, version } = state;
        return frame(version, 'probe', `{"probe":${JSON.stringify(probe)},"result":${resultOf(id, state)}}`);
      }),
    completed: (completion) =>
      once(completion, () => {
        const { check, states } = completion;
        const results = states.map((state) => `${JSON.stringify(state.probe)}:${resultOf(check.testId, state)}`);
        return frame(
          completedId(completion),
          'completed',
          `${JSON.stringify(check).slice(0, -1)},"results":{${results.join(',')}}}`,
        );
      }),
  };
}

/** Sets the client's reconnection delay. */
export function retryFrame(milliseconds: number): Buffer {
  return Buffer.from(`retry: ${Math.round(milliseconds)}\n\n`);
}

/** Heartbeat of an event stream, a comment: proxies may close idle streams. */
export const HEARTBEAT_FRAME = Buffer.from(':\n\n');

/** @param json without line breaks, as `JSON.stringify` writes it */
function frame(id: number, name: EventName, json: string): string {
  return `id: ${id}\nevent: ${name}\ndata: ${json}\n\n`;
}
