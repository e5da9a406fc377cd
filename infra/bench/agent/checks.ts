import type { CheckRequest } from '@vantage/client';

import { signedZones } from '@vantage/test-support/dns/knot';

/** A check as a request to the service, and as an equivalent probe of the exporter. */
export interface BenchCheck {
  readonly type: 'tcp' | 'ping' | 'http' | 'dns';
  readonly request: CheckRequest;
  /** `target` of the exporter’s probe; its `module` is the type. */
  readonly target: string;
}

export interface TargetPorts {
  readonly tcp: number;
  readonly http: number;
  readonly dns: number;
}

export const QUERY_NAME = `www.${signedZones.plain}`;

/** Checks that each need one connection, packet, request or query. */
export function comparedChecks({ tcp, http, dns }: TargetPorts): readonly BenchCheck[] {
  const probes = ['bench-1'];
  const host = '127.0.0.1';
  const url = `http://${host}:${http}/`;
  return [
    {
      type: 'tcp',
      request: { type: 'tcp', host, port: tcp, probes, options: { attempts: 1 } },
      target: `${host}:${tcp}`,
    },
    { type: 'ping', request: { type: 'ping', host, probes, options: { count: 1 } }, target: host },
    {
      type: 'http',
      request: {
        type: 'http',
        host: url,
        probes,
        options: { screenshot: false, followRedirects: 0, httpVersion: '1.1' },
      },
      target: url,
    },
    { type: 'dns', request: { type: 'dns', host: QUERY_NAME, recordType: 'A', probes }, target: `${host}:${dns}` },
  ];
}

/** Modules of the exporter, each by the name of its type. */
export const exporterModules = `
modules:
  tcp:
    prober: tcp
    timeout: 5s
    tcp:
      preferred_ip_protocol: ip4
  ping:
    prober: icmp
    timeout: 5s
    icmp:
      preferred_ip_protocol: ip4
  http:
    prober: http
    timeout: 5s
    http:
      preferred_ip_protocol: ip4
      follow_redirects: false
      enable_http2: false
  dns:
    prober: dns
    timeout: 5s
    dns:
      preferred_ip_protocol: ip4
      transport_protocol: udp
      query_name: ${QUERY_NAME}
      query_type: A
`;
