import { crc32, deflateSync } from 'node:zlib';

import { redisKeys, SCREENSHOT_SIZE, type AnyCheckType, type Failure } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { echo } from './echo-type.ts';

/** Like `echo`, with an HTTP status, and a screenshot if the options request one. */
export const photo: AnyCheckType = {
  ...echo,
  type: 'photo',
  options: { ...echo.options, screenshot: { type: 'boolean', default: true } },
  result: { ...echo.result, statusCode: { type: 'integer' } },
  added: { screenshot: { type: 'string' } },
  screenshot: ({ host, options }) =>
    options['screenshot'] === true ? { url: `http://${host}/`, insecureSSL: false } : undefined,
};

/** A black PNG of this size. */
export function blankPng({
  width,
  height,
}: { readonly width: number; readonly height: number } = SCREENSHOT_SIZE): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Bit depth 1, greyscale.
  head.set([1, 0, 0, 0, 0], 8);
  const lines = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', lines), chunk('IEND', Buffer.alloc(0))]);
}

/** Writes an entry about a screenshot like an agent: the image, or why there is none. */
export async function reportPhoto(
  redis: Redis,
  probe: string,
  check: string,
  { png, failure = null }: { readonly png?: Buffer; readonly failure?: Failure | null },
): Promise<void> {
  const picture = png === undefined ? [] : ['png', png];
  const data = JSON.stringify({ failure });
  await redis.xadd(redisKeys.results(probe), '*', 'check', check, 'kind', 'screenshot', 'data', data, ...picture);
  await redis.publish(redisKeys.resultNotification(probe), '1');
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
