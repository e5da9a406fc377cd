import type { JSX } from 'preact';

import { DnsView } from './DnsView.tsx';
import { HttpView } from './HttpView.tsx';
import { InfoView } from './InfoView.tsx';
import { PingView } from './PingView.tsx';
import { PortView } from './PortView.tsx';
import { TracerouteView } from './TracerouteView.tsx';
import type { ViewProps } from './types.ts';

const views: Readonly<Record<string, (props: ViewProps) => JSX.Element>> = {
  ping: PingView,
  http: HttpView,
  dns: DnsView,
  tcp: PortView,
  udp: PortView,
  traceroute: TracerouteView,
  info: InfoView,
};

/** View of a check type; unknown types have the table only. */
export function TypeView(props: ViewProps): JSX.Element | null {
  const View = views[props.check.type];
  return View === undefined ? null : <View {...props} />;
}
