/** What only monitors need, in one file for the browser. */
export { RepeatDialog } from '../monitor/RepeatDialog.tsx';
export { MonitorPage } from './Monitor.tsx';
export { MonitorsPage } from './Monitors.tsx';
