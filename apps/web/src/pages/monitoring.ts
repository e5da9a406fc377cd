/** Code of monitors, loaded on demand: by their pages, and by the button that makes a monitor from a check. */
export { RepeatDialog } from '../monitor/RepeatDialog.tsx';
export { MonitorPage } from './Monitor.tsx';
export { MonitorsPage } from './Monitors.tsx';
