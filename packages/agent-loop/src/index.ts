export {
  createAgentLoop,
  type AgentLoop,
  type AgentLoopOptions,
  type JobRunner,
  type Link,
  type WatchedLoop,
  type Work,
} from './agent-loop.ts';
export { createFinisher, type Finisher } from './finisher.ts';
export { decodeFrame, encodeMessage, encodePiece, type Frame } from './frames/frames.ts';
export { createAgentMessageReader } from './frames/validate.ts';
export { enrolOnce } from './gateway/enrol-once.ts';
export { createGatewayLoop } from './gateway/gateway-loop.ts';
export type { GatewayLoopOptions } from './gateway/parts.ts';
export type { AgentIdentity } from './gateway/session.ts';
export { createHint, type Hint } from './hint.ts';
export { createPartials, type PartialsOfProbe } from './partials.ts';
export { failureResult, probeFailure } from './probe-failure.ts';
export type { ReportedPicture, ResultOutlet } from './results.ts';
export type { QueuedJob } from './probe-queue.ts';
