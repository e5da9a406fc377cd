import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

const deflated = promisify(deflate);

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * Encodes an image with a palette as PNG (ISO/IEC 15948).
 *
 * @param pixels rows from top to bottom, one palette index each
 * @param palette at most 256 colours of three bytes
 */
export async function encodePng(width: number, height: number, pixels: Buffer, palette: Buffer): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits, palette, not interlaced.
  header.set([8, 3, 0, 0, 0], 8);
  // Each row begins with its filter type: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) pixels.copy(rows, y * (width + 1) + 1, y * width, (y + 1) * width);
  const data = await deflated(rows);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
