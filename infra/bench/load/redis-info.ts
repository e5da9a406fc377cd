import { Redis } from 'ioredis';

/** Numbers of INFO, such as `used_memory` and `total_commands_processed`. */
export async function redisInfo(port: number): Promise<(name: string) => number> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  const info = await redis.info();
  redis.disconnect();
  return (name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
}
