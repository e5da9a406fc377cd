/** Code that only the pages of monitors load. */
export { RepeatDialog } from '../monitor/RepeatDialog.tsx';
export { MonitorPage } from './Monitor.tsx';
export { MonitorsPage } from './Monitors.tsx';
