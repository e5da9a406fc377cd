import type { InputError, Probe } from '@vantage/contract';
import type { PlannedModules } from '@vantage/modules';

import type { ProbeList } from '../../probes/registry/probe-list.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { sendFresh } from '../endpoints/send-json.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { Links } from '../links.ts';
import { parameterFaults, queryOf } from '../requests/query-parameters.ts';
import { invalid } from '../requests/validate-request.ts';
import type { ScrapeAccess } from './scrape-access.ts';

export interface TargetDiscoveryOptions {
  readonly modules: () => PlannedModules;
  readonly access: ScrapeAccess;
  readonly probes: ProbeList;
  readonly links: Links;
  readonly limit: Limit;
}

const MAX_TARGETS = 1_000;

export function discovery(options: TargetDiscoveryOptions): readonly Endpoint[] {
  return [discoverTargets(options), discoverAgents(options)];
}

/**
 * `GET /sd`: target groups for `http_sd_configs`, one for each probe of `GET /probes`, or for each pair of a probe and a
 * `target` of the query.
 */
function discoverTargets({ modules, access, probes, links, limit }: TargetDiscoveryOptions): Endpoint {
  return {
    path: '/sd',
    method: 'GET',
    scope: 'read',
    countRefused: limit,
    limit: withAccess(limit, access),
    answer: async (request, response) => {
      const query = queryOf(request);
      const targets = query.getAll('target');
      const module = query.get('module') ?? undefined;
      const errors = [
        ...parameterFaults(query, { once: ['module'], repeated: ['target'] }),
        ...targetFaults(targets),
        ...(module === undefined || modules().usable.has(module) ? [] : [unknownModule(module)]),
      ];
      if (errors.length > 0) throw invalid(errors);
      const list = Object.entries(await probes.list());
      const groups = list.flatMap(([id, probe]) => {
        const labels = {
          ...addressLabels(links),
          // Without this label the targets of all probes share the series that Prometheus itself makes, such as `up`.
          probe: id,
          __param_probe: id,
          ...placeLabels(id, probe),
          ...(module === undefined ? {} : { __param_module: module }),
        };
        const { host } = new URL(links.publicUrl);
        if (targets.length === 0) return [{ targets: [host], labels }];
        return targets.map((target) => ({
          targets: [host],
          labels: { ...labels, __param_target: target, instance: target },
        }));
      });
      response.set('Cache-Control', 'no-store');
      await sendFresh(request, response, 'application/json; charset=utf-8', JSON.stringify(groups));
    },
  };
}

/**
 * `GET /sd/agents`: target groups for `http_sd_configs` of the agents in `GET /probes/agents` whose operator has set
 * the address of their metrics.
 */
function discoverAgents({ access, probes, limit }: TargetDiscoveryOptions): Endpoint {
  return {
    path: '/sd/agents',
    method: 'GET',
    scope: 'read',
    countRefused: limit,
    limit: withAccess(limit, access),
    answer: async (request, response) => {
      const errors = parameterFaults(queryOf(request), { once: [], repeated: [] });
      if (errors.length > 0) throw invalid(errors);
      const [list, addresses] = await Promise.all([probes.list(), probes.metricsAddresses()]);
      const groups = Object.entries(list).flatMap(([id, probe]) => {
        const address = addresses.get(id);
        return address === undefined ? [] : [{ targets: [address], labels: { probe: id, ...placeLabels(id, probe) } }];
      });
      response.set('Cache-Control', 'no-store');
      await sendFresh(request, response, 'application/json; charset=utf-8', JSON.stringify(groups));
    },
  };
}

function withAccess(limit: Limit, access: ScrapeAccess): Limit {
  return async (request, response) => {
    await limit(request, response);
    // Requests with other methods need no access: they get 405.
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const refusal = isRead ? access(request) : undefined;
    if (refusal !== undefined) throw refusal;
  };
}

function targetFaults(targets: readonly string[]): readonly InputError[] {
  if (targets.includes('')) return [{ path: '?target', message: 'must not be empty' }];
  return targets.length > MAX_TARGETS ? [{ path: '?target', message: `at most ${MAX_TARGETS} are allowed` }] : [];
}

function unknownModule(name: string): InputError {
  return { path: '?module', message: `there is no module ${JSON.stringify(name.slice(0, 128))} that can be run` };
}

function addressLabels({ publicUrl, basePath }: Links): Readonly<Record<string, string>> {
  return { __scheme__: new URL(publicUrl).protocol.slice(0, -1), __metrics_path__: `${basePath}/probe` };
}

/** Labels for relabelling, after which Prometheus drops those with the prefix `__`. */
function placeLabels(id: string, probe: Probe): Readonly<Record<string, string>> {
  return {
    __meta_vantage_probe: id,
    __meta_vantage_name: probe.name,
    __meta_vantage_country: probe.countryCode,
    __meta_vantage_city: probe.city ?? '',
    __meta_vantage_datacenter: probe.datacenter,
    __meta_vantage_isp: probe.isp,
    __meta_vantage_asn: probe.asNumber,
    __meta_vantage_status: probe.status,
    __meta_vantage_tags: probe.tags.length === 0 ? '' : `,${probe.tags.join(',')},`,
  };
}
