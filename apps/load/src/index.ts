export type { LoadReport } from './report.ts';
