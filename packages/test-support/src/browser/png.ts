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
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (stride + 1)]!;
    for (let i = 0; i < stride; i += 1) {
      const left = i < channels ? 0 : out[y * stride + i - channels]!;
      const up = y === 0 ? 0 : out[(y - 1) * stride + i]!;
      const corner = y === 0 || i < channels ? 0 : out[(y - 1) * stride + i - channels]!;
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      out[y * stride + i] = data[y * (stride + 1) + 1 + i]! + predicted;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
