export {
  findRedisServer,
  freePort,
  redisPidFile,
  startRedisServer,
  type RedisServer,
  type RedisServerOptions,
} from './server.ts';
export { startRedisCluster, startRedisSentinel, type RedisCluster, type RedisSentinel } from './topologies.ts';
