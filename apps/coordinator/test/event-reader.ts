import { conformanceTo } from './conformance-to.ts';
import { until } from './core-bed.ts';

export interface ReadEvent {
  readonly id: number;
  readonly name: string;
  readonly data: {
    readonly probe?: string;
    readonly result?: Readonly<Record<string, unknown>>;
    readonly status?: string;
    readonly results?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
}

/** An event stream that is read as it arrives. */
export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** All data so far. */
  readonly text: () => string;
  readonly events: () => readonly ReadEvent[];
  /** Waits for an event; the test's own timeout bounds it. */
  readonly event: (isIt: (event: ReadEvent) => boolean) => Promise<ReadEvent>;
  /** Resolves when the stream ends, with or without an error. */
  readonly ended: Promise<void>;
  readonly close: () => void;
}

export async function readEvents(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
  const connection = new AbortController();
  const response = await fetch(url, { headers, signal: connection.signal });
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  };
  const events = (): readonly ReadEvent[] =>
    [...text.matchAll(/id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n/g)].map(toEvent);
  return {
    status: response.status,
    headers: response.headers,
    text: () => text,
    events,
    event: async (isIt) => {
      await until(() => events().some(isIt));
      return events().find(isIt)!;
    },
    ended: read().catch(() => undefined),
    close: () => connection.abort(),
  };
}

function toEvent([, id, name = '', data = '']: RegExpMatchArray): ReadEvent {
  return { id: Number(id), name, data: JSON.parse(data) as ReadEvent['data'] };
}

/** Compares all received events with the OpenAPI document of the service. */
export async function streamFaults(baseUrl: string, path: string, reader: EventReader): Promise<readonly string[]> {
  const faultsOf = await conformanceTo(baseUrl);
  const { status, headers } = reader;
  return faultsOf({ method: 'GET', path, status, headers, body: reader.text() });
}
