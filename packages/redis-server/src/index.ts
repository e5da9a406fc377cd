export { startRedisCluster, type RedisCluster } from './cluster.ts';
export { findRedisServer } from './find-redis-server.ts';
export { freePort } from './free-port.ts';
export { startRedisSentinel, type RedisSentinel } from './sentinel.ts';
export { redisPidFile, startRedisServer, type RedisServer, type RedisServerOptions } from './server.ts';
