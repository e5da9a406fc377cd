export { createApp, type AppOptions, type RateLimits, type TrustedProxies } from './app.ts';
export { readConfig, settings, type Config } from './config.ts';
export { adminSettings } from './admin/config.ts';
export { createConformance, type SeenAnswer } from './http/conformance.ts';
export { grantAgents } from './admin/grant-agents.ts';
export { openProbeRecords } from './probes/registry/open-probe-records.ts';
export { coordinatorMetrics } from './telemetry/declared.ts';
export { coreEvents } from './telemetry/core-events.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
