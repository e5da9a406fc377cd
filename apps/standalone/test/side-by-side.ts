import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freeServerPort, startDaemon } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';

import { startService } from './service.ts';

export const EXPORTER_PACKAGES = ['prometheus-blackbox-exporter'];

/** Series by name and labels, without the series and labels that Vantage alone has. */
export type Series = ReadonlyMap<string, number>;

/** Vantage and blackbox_exporter with the same file of modules; `vantage` and `exporter` are their URLs. */
export interface SideBySide {
  readonly vantage: string;
  readonly exporter: string;
  readonly scrape: (base: string, module: string, target: string, more?: Query) => Promise<Series>;
  readonly stop: () => Promise<void>;
}

type Query = Readonly<Record<string, string>>;

/** @param caFile file of the certificate that Vantage and blackbox_exporter trust */
export async function startSideBySide(folder: string, modules: string, caFile: string): Promise<SideBySide> {
  const file = join(folder, 'blackbox.yml');
  writeFileSync(file, modules);
  const packages = await unpackPackages(...EXPORTER_PACKAGES);
  const address = `127.0.0.1:${await freeServerPort()}`;
  const url = `http://${address}`;
  const exporter = await startDaemon(
    { ...packages, environment: { ...packages.environment, SSL_CERT_FILE: caFile } },
    'prometheus-blackbox-exporter',
    [`--config.file=${file}`, `--web.listen-address=${address}`],
    async () => (await fetch(`${url}/-/healthy`)).ok,
  );
  const service = await startService(`${folder}/data`, ['--allow', '127.0.0.0/8'], {
    MODULES_FILE: file,
    SCRAPE_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: caFile,
  });
  return {
    vantage: service.url,
    exporter: url,
    scrape: (base, module, target, more = {}) =>
      scrape(base, { module, target, ...more, ...(base === url ? {} : { probe: 'demo-1' }) }),
    stop: async () => {
      await service.stop();
      await exporter.stop();
    },
  };
}

async function scrape(base: string, query: Query): Promise<Series> {
  const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': '25' };
  const response = await fetchAccepted(`${base}/probe?${new URLSearchParams(query).toString()}`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${base} ${JSON.stringify(query)}: ${response.status} ${text}`);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = lines.map((line): [string, number] => {
    const at = line.lastIndexOf(' ');
    const name = line.slice(0, at).replace(/,?probe="demo-1"/, '');
    return [name.replace('{}', '').replace('{,', '{'), Number(line.slice(at + 1))];
  });
  const shared = samples.filter(([name]) => !name.startsWith('vantage_'));
  return new Map(shared.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Durations differ between runs: only their presence is compared. */
export function comparable(series: Series): readonly (readonly [string, unknown])[] {
  return [...series].map(([name, value]) => {
    if (!/_seconds($|\{)/.test(name) || /timestamp/.test(name)) return [name, value];
    const isPresent = Number.isFinite(value) && value >= 0;
    // blackbox_exporter may report some microseconds for phases that did not occur.
    return [name, /resolve|setup|lookup|connect"/.test(name) ? isPresent : isPresent && value > 0];
  });
}
