import { createParser } from 'eventsource-parser';

/**
 * Declared here instead of imported from the parser: the declarations of the npm package may import only
 * `@vantage/types`.
 */
export interface StreamEvent {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
}

export interface ReadEventsOptions {
  /** Called for each received chunk, whatever its content. */
  readonly onBytes?: () => void;
  /** Called with the reconnection delay that the service requests. */
  readonly onRetry?: (milliseconds: number) => void;
}

/** The events of a `text/event-stream` body, each as soon as it is complete. */
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
