import { inflateSync } from 'node:zlib';

/** Decodes a PNG of 8 bits per channel without interlacing, as browsers write them. */
export function readPng(png: Uint8Array): {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of a pixel. */
  readonly pixel: (x: number, y: number) => readonly [number, number, number];
} {
  const view = Buffer.from(png);
  if (view.toString('latin1', 1, 4) !== 'PNG') throw new Error('no PNG');
  const [width, height, colourType] = [view.readUInt32BE(16), view.readUInt32BE(20), view[25]];
  const channels = colourType === 6 ? 4 : 3;
  const pieces: Buffer[] = [];
  for (let at = 8; at < view.length; at += 12 + view.readUInt32BE(at)) {
    if (view.toString('latin1', at + 4, at + 8) === 'IDAT')
      pieces.push(view.subarray(at + 8, at + 8 + view.readUInt32BE(at)));
  }
  const lines = unfilter(inflateSync(Buffer.concat(pieces)), width * channels, channels, height);
  const pixel = (x: number, y: number): readonly [number, number, number] => {
    const at = (y * width + x) * channels;
    return [lines[at]!, lines[at + 1]!, lines[at + 2]!];
  };
  return { width, height, pixel };
}

/** PNG section 9: each line begins with the number of its filter. */
function unfilter(data: Buffer, stride: number, channels: number, height: number): Buffer {
  const out = Buffer.alloc(stride * height);
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y += 1) {
    const from = y * (stride + 1) + 1;
    const line = out.subarray(y * stride, (y + 1) * stride);
    data.copy(line, 0, from, from + stride);
    addPrediction(line, above, channels, data[from - 1]!);
    above = line;
  }
  return out;
}

/** Undoes the filter of a line (PNG section 9) in place, because an image has millions of bytes. */
function addPrediction(line: Buffer, above: Buffer, channels: number, filter: number): void {
  if (filter === 0) return;
  for (let i = 0; i < line.length; i += 1) {
    const left = i < channels ? 0 : line[i - channels]!;
    const up = above[i]!;
    if (filter === 1) line[i]! += left;
    else if (filter === 2) line[i]! += up;
    else if (filter === 3) line[i]! += (left + up) >> 1;
    else line[i]! += paeth(left, up, i < channels ? 0 : above[i - channels]!);
  }
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
