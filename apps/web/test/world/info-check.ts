import { check, eachProbe, final, round, wobble } from './results.ts';

export const infoCheck = check(
  'info_AAAAAAAAAAAAAAAAA',
  'info',
  'www.example.com',
  eachProbe((id, index) => {
    const isAsia = ['bom-1', 'sgp-1', 'nrt-1', 'syd-1'].includes(id);
    const ip = isAsia ? '198.51.100.20' : '192.0.2.80';
    return final(index, round(1 + wobble(index) * 9), {
      resolvedIp: ip,
      ip,
      addresses: [ip],
      hostname: isAsia ? 'edge-sin.example.net' : 'edge-fra.example.net',
      hostnameVerified: true,
      asn: isAsia ? 'AS64511' : 'AS64510',
      asName: 'Example Delivery',
      isp: 'Example Delivery',
      org: 'Example Delivery Ltd',
      prefix: isAsia ? '198.51.100.0/24' : '192.0.2.0/24',
      ...(isAsia
        ? { city: 'Singapore', region: null, country: 'Singapore', countryCode: 'SG', timezone: 'Asia/Singapore' }
        : { city: 'Frankfurt', region: 'Hesse', country: 'Germany', countryCode: 'DE', timezone: 'Europe/Berlin' }),
      latitude: isAsia ? 1.35 : 50.11,
      longitude: isAsia ? 103.82 : 8.68,
      provider: 'IP Geolocation by DB-IP (https://db-ip.com)',
      dataDate: '2026-06-05',
    });
  }),
);
