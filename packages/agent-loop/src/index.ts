export {
  createAgentLoop,
  type AgentLoop,
  type AgentLoopOptions,
  type JobRunner,
  type Link,
  type WatchedLoop,
  type Work,
} from './agent-loop.ts';
export { createPartials, type PartialsOfProbe } from './partials.ts';
export { failureResult, probeFailure } from './probe-failure.ts';
export type { ReportedPicture, ResultOutlet } from './results.ts';
export type { QueuedJob } from './probe-queue.ts';
