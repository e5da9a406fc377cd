export { awakeClock, awakeTimer, type AwakeClock } from './awake-clock.ts';
export { createBackoff, type Backoff } from './backoff.ts';
export { linkSignal, type LinkedSignal } from './link-signal.ts';
export { pause } from './pause.ts';
export { readFirstTimer } from './read-first-timer.ts';
export { createRemoteClock, msOfTimeReply, type RemoteClock } from './remote-clock.ts';
export { stallTolerantTimeout } from './stall-tolerant.ts';
export { inTime, within } from './within.ts';
