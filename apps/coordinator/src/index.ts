export { createApp, type AppOptions, type RateLimits, type TrustedProxies } from './app.ts';
export { readConfig, settings, type Config } from './config.ts';
export { createConformance, type SeenAnswer } from './http/conformance.ts';
export { openProbeRecords } from './probes/open-probe-records.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
