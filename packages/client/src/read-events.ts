import { createParser } from 'eventsource-parser';

/** Not the type of the parser: declarations of the npm package import `@vantage/types` alone. */
export interface StreamEvent {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
}

export interface ReadEventsOptions {
  /** Called for each piece that comes, whatever is in it. */
  readonly onBytes?: () => void;
  /** Called with what the service asks clients to wait before they connect again. */
  readonly onRetry?: (milliseconds: number) => void;
}

/** The events of a body in `text/event-stream`, each as soon as it is whole. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { onBytes, onRetry }: ReadEventsOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const whole: StreamEvent[] = [];
  const parser = createParser({ onEvent: (event) => void whole.push(event), onRetry });
  const decoder = new TextDecoder();
  // Not every browser can iterate over a stream.
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes?.();
    parser.feed(decoder.decode(value, { stream: true }));
    yield* whole.splice(0);
  }
}
