export { literalProbeContext } from './probe-context.ts';
