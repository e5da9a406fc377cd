export { createAgent, type Agent } from './agent.ts';
export { readConfig, settings, type Config } from './config.ts';
export { openParts } from './open-parts.ts';
export type { AgentParts, OpenParts } from './parts.ts';
export { agentMetrics } from './telemetry/declared.ts';
