import type { Probe, Probes } from '@vantage/contract';

/** Fictitious probes at real places; the AS numbers below are reserved for documentation (RFC 5398). */
export const places: readonly (readonly [
  id: string,
  city: string,
  country: string,
  latitude: number,
  longitude: number,
])[] = [
  ['fra-1', 'Frankfurt', 'DE', 50.11, 8.68],
  ['ams-1', 'Amsterdam', 'NL', 52.37, 4.9],
  ['lhr-1', 'London', 'GB', 51.51, -0.13],
  ['mad-1', 'Madrid', 'ES', 40.42, -3.7],
  ['waw-1', 'Warsaw', 'PL', 52.23, 21.01],
  ['nyc-1', 'New York', 'US', 40.71, -74.01],
  ['sjc-1', 'San José', 'US', 37.34, -121.89],
  ['gru-1', 'São Paulo', 'BR', -23.55, -46.63],
  ['jnb-1', 'Johannesburg', 'ZA', -26.2, 28.05],
  ['bom-1', 'Mumbai', 'IN', 19.08, 72.88],
  ['sgp-1', 'Singapore', 'SG', 1.35, 103.82],
  ['nrt-1', 'Tokyo', 'JP', 35.68, 139.69],
  ['syd-1', 'Sydney', 'AU', -33.87, 151.21],
];

/** Plausible round-trip times from these places to Frankfurt, milliseconds. */
export const distances = [0.8, 7.9, 12.4, 28.6, 19.2, 84.3, 148.7, 201.4, 158.9, 121.3, 163.8, 232.6, 287.1];

export const world: Probes = Object.fromEntries(
  places.map(([id, city, countryCode, latitude, longitude], index): [string, Probe] => [
    id,
    {
      name: `${city} 1`,
      datacenter: `${city} One`,
      countryCode,
      city,
      latitude,
      longitude,
      isp: `Example Network ${index + 1}`,
      asNumber: `AS${64_496 + index}`,
      tags: index < 5 ? ['europe'] : ['overseas'],
      status: id === 'bom-1' ? 'degraded' : id === 'gru-1' ? 'offline' : 'healthy',
      reason: id === 'bom-1' ? 'No IPv6: the probe has no route to it.' : null,
      version: '0.1.0',
      capabilities: {
        types: ['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info'],
        ipv4: true,
        ipv6: id !== 'bom-1',
        screenshot: index % 2 === 0,
      },
      lastSeen: new Date(Date.now() - (id === 'gru-1' ? 5_000_000 : 1200)).toISOString(),
      load: { running: index % 4, capacity: 20 },
    },
  ]),
);
