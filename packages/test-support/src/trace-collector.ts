import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One span in OTLP/HTTP JSON. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: () => readonly ReceivedSpan[];
  readonly paths: () => ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string | number;
}

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly kind: number;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly attributes: readonly Attribute[];
        readonly status?: { readonly code?: number };
      }[];
    }[];
  }[];
}

/**
 * OpenTelemetry collector for tests: receives traces over HTTP on loopback and stores them.
 *
 * @param status response status
 */
export async function startCollector(status = 200): Promise<Collector> {
  const received: ReceivedSpan[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      paths.add(request.url ?? '');
      received.push(...spansOf(JSON.parse(Buffer.concat(pieces).toString()) as Export));
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => received,
    paths: () => paths,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function spansOf({ resourceSpans }: Export): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId = '', attributes, status }) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        name,
        kind,
        traceId,
        spanId,
        parentSpanId,
        attributes: valuesOf(attributes),
        failed: status?.code === 2,
      })),
    ),
  );
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
