import { MAX_HEAD_BYTES } from '../bounds.ts';
import type { Head } from '../response-head.ts';
import { ChunkedBody } from './chunked-body.ts';
import { framingOf } from './framing.ts';
import {
  addHeaderLine,
  canBeStatusLine,
  isStatusLineBegun,
  MAX_PREFIX,
  readStatusLine,
  type StatusLine,
} from './head-lines.ts';
import { LineCollector } from './line-collector.ts';
import type { ResponseFault, ResponseSink } from './sink.ts';

const NO_STATUS_LINE = 'it has no status line (RFC 9112 section 4)';

type State = 'status' | 'headers' | 'counted' | 'untilClose' | 'chunked' | 'over';

/**
 * Parses one HTTP/1 response (RFC 9112) without I/O. Tolerates many deviations from the grammar, and reports them to
 * the sink.
 */
export class Http1Reader {
  private readonly method: string;
  private readonly sink: ResponseSink;
  private state: State = 'status';
  private readonly line = new LineCollector();
  private headBytes = 0;
  private statusLine: StatusLine | null = null;
  private rawHeaders: string[] = [];
  private hasBody = true;
  /** Bytes left of a body with a length. */
  private left = 0;
  private readonly chunked: ChunkedBody;
  private isRecognized = false;

  constructor(method: string, sink: ResponseSink) {
    this.method = method;
    this.sink = sink;
    const { body, deviation } = sink;
    this.chunked = new ChunkedBody({ body, deviation, end: () => this.finish(), fault: (fault) => this.fail(fault) });
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.state !== 'over') at += this.take(bytes.subarray(at));
    if (at < bytes.length) this.sink.deviation(this.hasBody ? 'bytes_after_body' : 'body_unexpected');
  }

  /** @param isInOrder false if TLS ended without close_notify: an attacker on the path may have ended the connection */
  close(isInOrder: boolean): void {
    if (this.state === 'untilClose' && !isInOrder) this.cutOff();
    else if (this.state === 'untilClose') this.finish();
    else if (this.state === 'status' && !isStatusLineBegun(this.line.text)) this.malformed(NO_STATUS_LINE);
    else if (this.state !== 'over') this.fail({ kind: 'closed' });
  }

  /** The received part of a final head whose status line has arrived; null without one. */
  partialHead(): Head | null {
    const line = this.statusLine;
    return line === null || line.statusCode < 200 ? null : this.headOf(line);
  }

  private headOf(line: StatusLine): Head {
    return { ...line, rawHeaders: this.rawHeaders };
  }

  /** @returns how many of the bytes were taken, more than 0 */
  private take(bytes: Buffer): number {
    if (this.state === 'chunked') return this.chunked.take(bytes);
    if (this.state === 'counted' || this.state === 'untilClose') return this.takeBody(bytes);
    const { taken, isWhole } = this.line.add(bytes);
    this.takeLineBytes(taken, isWhole);
    return taken;
  }

  private takeBody(bytes: Buffer): number {
    const taken = this.state === 'untilClose' ? bytes : bytes.subarray(0, this.left);
    this.left -= taken.length;
    this.sink.body(taken);
    if (this.state === 'counted' && this.left === 0) this.finish();
    return taken.length;
  }

  /** Bounds the head, and processes the current line when it is complete. */
  private takeLineBytes(count: number, isWhole: boolean): void {
    this.headBytes += count;
    if (this.headBytes > MAX_HEAD_BYTES) return this.fail({ kind: 'too large' });
    if (this.state === 'status' && !this.isRecognized) {
      const start = this.line.text;
      if (!canBeStatusLine(start)) return this.malformed(NO_STATUS_LINE);
      this.isRecognized = start.length >= MAX_PREFIX + 4;
    }
    if (!isWhole) return;
    const text = this.line.next(this.sink.deviation);
    if (this.state === 'status') this.takeStatusLine(text);
    else this.takeHeader(text);
  }

  private takeStatusLine(text: string): void {
    // Empty lines before the status line count as part of its prefix.
    if (text === '' && this.headBytes <= MAX_PREFIX) return this.sink.deviation('status_prefix');
    const read = readStatusLine(text, this.sink.deviation);
    if (read === undefined) return this.malformed(NO_STATUS_LINE);
    [this.statusLine, this.rawHeaders, this.state] = [read, [], 'headers'];
  }

  private takeHeader(text: string): void {
    if (text === '') return this.endHead(this.headOf(this.statusLine!));
    if (!addHeaderLine(this.rawHeaders, text, this.sink.deviation))
      this.malformed('a header has NUL (RFC 9110 section 5.5)');
  }

  private endHead(head: Head): void {
    const { statusCode } = head;
    // The grammar allows any three digits; RFC 9110 section 15 starts at 100.
    if (statusCode < 100) return this.malformed('its status is below 100 (RFC 9110 section 15)');
    this.headBytes = 0;
    const framing = framingOf(this.method, head, this.sink.deviation);
    if (statusCode < 200 && statusCode !== 101) {
      [this.statusLine, this.state, this.isRecognized] = [null, 'status', false];
      return this.sink.interim(head);
    }
    this.sink.head(head);
    this.statusLine = null;
    if (statusCode === 101) return this.malformed('it switches protocols unasked (RFC 9110 section 15.2.2)');
    if (framing.kind === 'undecidable') return this.malformed(framing.reason);
    if (framing.kind === 'chunked' || framing.kind === 'untilClose') this.state = framing.kind;
    else {
      this.hasBody = framing.kind === 'length';
      this.left = framing.kind === 'length' ? framing.bytes : 0;
      if (this.left === 0) this.finish();
      else this.state = 'counted';
    }
  }

  private fail(fault: ResponseFault): void {
    this.state = 'over';
    this.sink.fault(fault);
  }

  private malformed(reason: string): void {
    this.fail({ kind: 'malformed', reason });
  }

  private finish(): void {
    this.state = 'over';
    this.sink.end();
  }

  /** Ends a body at the end of TLS without close_notify: it may be incomplete (RFC 9112 section 8). */
  private cutOff(): void {
    this.state = 'over';
    this.sink.deviation('close_notify_missing');
    this.sink.cut();
  }
}
