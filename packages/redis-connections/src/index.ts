export { agentRedisUrlKind, parseRedisUrl, redisUrlKind, type RedisEndpoint, type RedisAddress } from './address.ts';
export { hasAnswered, type ConnectionLog } from './log-outages.ts';
export { isCluster, masterOf, mastersOf } from './cluster.ts';
export { openFailFast, openOnce, openPatient, openSubscriber, type OpenOptions, type PatientOptions } from './open.ts';
export { askSentinels, isWatched, serverOf, type Mastership, type MastershipOf } from './sentinel/sentinels.ts';
