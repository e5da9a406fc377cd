import { MAX_HEAD_BYTES } from '../bounds.ts';
import { readChunkSize } from './framing.ts';
import { addHeaderLine } from './head-lines.ts';
import { LineCollector } from './line-collector.ts';
import type { ResponseSink } from './sink.ts';

const MAX_CHUNK_LINE_BYTES = 16 * 1024;
const CHUNK_TOO_LONG = 'a chunk is longer than its size (RFC 9112 section 7.1)';

/** Parses a body with chunked coding, and its trailers (RFC 9112 section 7.1). */
export class ChunkedBody {
  private readonly sink: Pick<ResponseSink, 'body' | 'end' | 'fault' | 'deviation'>;
  private state: 'size' | 'data' | 'data end' | 'trailers' = 'size';
  private readonly line = new LineCollector();
  /** Bytes left of the current chunk. */
  private left = 0;
  private readonly trailers: string[] = [];
  private trailerBytes = 0;

  constructor(sink: ChunkedBody['sink']) {
    this.sink = sink;
  }

  /** Takes bytes up to the end of a chunk or line. @returns how many, more than 0 */
  take(bytes: Buffer): number {
    if (this.state === 'data') return this.takeData(bytes);
    const { taken, isWhole } = this.line.add(bytes);
    this.takeLineBytes(taken, isWhole);
    return taken;
  }

  private takeData(bytes: Buffer): number {
    const taken = bytes.subarray(0, this.left);
    this.left -= taken.length;
    this.sink.body(taken);
    if (this.left === 0) this.state = 'data end';
    return taken.length;
  }

  private takeLineBytes(count: number, isWhole: boolean): void {
    const { state, line } = this;
    if (state === 'data end' && line.bytes > 2) return this.malformed(CHUNK_TOO_LONG);
    if (state === 'size' && line.bytes > MAX_CHUNK_LINE_BYTES)
      return this.malformed('the chunk extensions are too large');
    if (state === 'trailers') this.trailerBytes += count;
    if (this.trailerBytes > MAX_HEAD_BYTES) return this.sink.fault({ kind: 'too large' });
    if (!isWhole) return;
    const text = line.next(this.sink.deviation);
    if (state === 'size') this.takeSize(text);
    else if (state === 'trailers') this.takeTrailer(text);
    else if (text === '') this.state = 'size';
    else this.malformed(CHUNK_TOO_LONG);
  }

  private takeSize(text: string): void {
    const size = readChunkSize(text, this.sink.deviation);
    if (typeof size === 'string') return this.malformed(size);
    this.left = size;
    this.state = size === 0 ? 'trailers' : 'data';
  }

  private takeTrailer(text: string): void {
    if (text === '') this.sink.end();
    else if (!addHeaderLine(this.trailers, text, this.sink.deviation))
      this.malformed('a trailer has NUL (RFC 9110 section 5.5)');
  }

  private malformed(reason: string): void {
    this.sink.fault({ kind: 'malformed', reason });
  }
}
