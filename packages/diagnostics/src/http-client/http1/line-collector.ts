import type { Deviates } from '../deviations.ts';

const LF = 10;

/** Collects the bytes of a line, which may arrive in pieces, and then of the next one. */
export class LineCollector {
  private pieces: Buffer[] = [];
  private length = 0;

  /** Bytes of the current line that have arrived. */
  get bytes(): number {
    return this.length;
  }

  /** What has arrived of the current line, one character per byte. */
  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  /** Takes the bytes up to the end of the current line. */
  add(bytes: Buffer): { readonly taken: number; readonly isWhole: boolean } {
    const end = bytes.indexOf(LF);
    const piece = end === -1 ? bytes : bytes.subarray(0, end + 1);
    this.pieces.push(piece);
    this.length += piece.length;
    return { taken: piece.length, isWhole: end !== -1 };
  }

  /** Begins the next line. @returns the current one, which must be whole, without CRLF, or without LF only */
  next(deviates: Deviates): string {
    const line = this.text;
    [this.pieces, this.length] = [[], 0];
    if (line.endsWith('\r\n')) return line.slice(0, -2);
    deviates('bare_lf');
    return line.slice(0, -1);
  }
}
