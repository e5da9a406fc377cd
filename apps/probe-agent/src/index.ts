export { createAgent, type ProbeAgent } from './agent.ts';
export { readConfig, settings, type Config } from './config/config.ts';
export { openRuntime } from './runtime/open-runtime.ts';
export type { ProbeRuntime, OpenRuntime } from './runtime/runtime.ts';
export { agentMetrics } from './telemetry/declared.ts';
