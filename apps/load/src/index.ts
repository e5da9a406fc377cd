export { settings } from './config.ts';
export type { LoadReport } from './report.ts';
