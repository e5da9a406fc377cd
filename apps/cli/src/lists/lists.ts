import { lineText, piece, type Style, table } from '@vantage/command-line';
import type { Me, Probes } from '@vantage/contract';

export function meLines(me: Me): readonly string[] {
  const rows = Object.entries(me).filter(([, value]) => value !== null);
  return table(rows.map(([name, value]) => [piece(name), piece(String(value))])).map((line) => lineText(line, false));
}

const statusStyles: Readonly<Record<string, Style>> = { healthy: 'good', degraded: 'warning', offline: 'bad' };

export function probeLines(probes: Probes, colors: boolean): readonly string[] {
  const rows = Object.entries(probes).map(([id, probe]) => [
    piece(id, 'bold'),
    piece(probe.status, statusStyles[probe.status] ?? 'plain'),
    piece(`${probe.city ?? probe.datacenter}, ${probe.countryCode}`),
    piece(`${probe.asNumber} ${probe.isp}`),
    piece(probe.reason ?? '', 'dim'),
  ]);
  return rows.length === 0 ? ['No probes.'] : table(rows).map((line) => lineText(line, colors));
}
