import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { settings as coordinatorSettings } from '@vantage/coordinator';
import { settings as agentSettings } from '@vantage/probe-agent';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

import { mallocSettings, nodeFlags } from '../../apps/standalone/src/node-flags.ts';

const repository = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(repository, file), 'utf8');

interface Service {
  readonly image?: string;
  readonly build?: object;
  readonly profiles?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly network_mode?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const compose = (file: string): Readonly<Record<string, Service>> =>
  (parse(read(file), { merge: true }) as { readonly services: Record<string, Service> }).services;

const services = compose('docker-compose.yml');
const agents = Object.entries(services).filter(([, { image }]) => image === 'vantage-probe-agent');
const lasting = Object.entries(services).filter(([name]) => !['secrets', 'probe-records'].includes(name));

const coordinatorVariables = new Set<string>(Object.values(coordinatorSettings).map(({ env }) => env));
const agentVariables = new Set<string>(Object.values(agentSettings).map(({ env }) => env));

describe('docker-compose.yml', () => {
  it('has agents for three regions and two coordinators', () => {
    expect(agents).toHaveLength(3);
    expect(
      Object.values(services).filter(({ image }) => image === 'vantage-coordinator').length,
    ).toBeGreaterThanOrEqual(2);
  });

  it.each(Object.entries(services))('gives %s no more than it needs', (name, service) => {
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.privileged).toBeUndefined();
    expect(service.read_only).toBe(true);
    expect(service.cap_add ?? []).toEqual(
      { secrets: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] }[name] ?? (isAgent(name) ? ['NET_RAW'] : []),
    );
    // Under no-new-privileges an agent has neither raw sockets nor a sandbox for its browser.
    expect(service.security_opt).toEqual(
      isAgent(name) ? ['seccomp=infra/agent/agent-seccomp.json'] : ['no-new-privileges:true'],
    );
  });

  it.each(lasting)('bounds the memory and the processes of %s', (_, service) => {
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
  });

  it('publishes on the loopback of the host alone, and Redis not at all', () => {
    const ports = Object.values(services).flatMap(({ ports }) => ports ?? []);

    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(services['redis']?.ports).toBeUndefined();
  });

  it('puts each agent into a separate network, shared only with Redis and Prometheus', () => {
    const networks = agents.map(([, { networks }]) => networks);

    expect(new Set(networks.flat()).size).toBe(agents.length);
    for (const [network = ''] of networks as string[][]) {
      const inside = Object.entries(services).filter(([, service]) => service.networks?.includes(network));
      expect(inside.map(([name]) => name).filter((name) => !isAgent(name))).toEqual(['redis', 'prometheus']);
    }
  });

  it.each(agents)('gives %s its own secrets and no others', (name, { volumes }) => {
    expect(volumes).toEqual([`agent-${name}:/setup/agent:ro`]);
  });

  it('tells coordinators and agents alike whom to ask and what to allow', () => {
    for (const variable of ['CONTACT', 'TARGET_ALLOW', 'TARGET_ALLOW_NAMES']) {
      const values = ['coordinator-1', 'demo-1'].map((name) => services[name]?.environment?.[variable]);
      expect(values).toEqual([`\${${variable}:-}`, `\${${variable}:-}`]);
    }
  });

  it('lets no release recreate Redis, and builds each image once', () => {
    const built = Object.values(services).flatMap(({ image, build }) => (build === undefined ? [] : [image]));

    // Compose also recreates the dependants of a container that it recreates.
    expect(services['redis']?.depends_on).toBeUndefined();
    expect(built).toEqual(['vantage-coordinator', 'vantage-probe-agent', 'vantage-load']);
  });

  // `docker compose up --wait` treats the end of a container as an error unless another service depends on its
  // completion.
  it('has a service that depends on the completion of each that ends', () => {
    const ending = Object.keys(services).filter((name) => !lasting.some(([other]) => other === name));
    const awaited = Object.values(services).flatMap(({ depends_on = {} }) =>
      Object.entries(depends_on).filter(([, { condition }]) => condition === 'service_completed_successfully'),
    );

    expect(ending).toEqual(['secrets', 'probe-records']);
    expect(ending.filter((name) => !awaited.some(([other]) => other === name))).toEqual([]);
  });

  it('is upgraded by a script that replaces every coordinator and agent', () => {
    const script = read('infra/docker/upgrade.sh');
    const replaced = [...script.matchAll(/\$\(services '(.*?)'\)/g)].map(([, pattern = '']) => new RegExp(pattern));
    const ours = lasting.filter(([, { image, profiles }]) => image?.startsWith('vantage-') && profiles === undefined);

    expect(ours.map(([name]) => name).filter((name) => !replaced.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(Object.keys(services).filter((name) => replaced.some((pattern) => pattern.test(name)))).toHaveLength(5);
    expect(script).not.toMatch(/replace (redis|proxy)/);
  });

  it('loads nothing before every agent takes jobs', () => {
    const healthy = Object.entries(services['load']?.depends_on ?? {}).filter(
      ([, { condition }]) => condition === 'service_healthy',
    );

    expect(healthy.map(([name]) => name)).toEqual(agents.map(([name]) => name));
  });

  it('sets what programs know', () => {
    const unknown = Object.entries(services).flatMap(([name, { image, environment = {} }]) => {
      const known =
        image === 'vantage-coordinator'
          ? coordinatorVariables
          : image === 'vantage-probe-agent'
            ? agentVariables
            : undefined;
      return known === undefined
        ? []
        : Object.keys(environment)
            .filter((variable) => !known.has(variable))
            .map((v) => `${name} ${v}`);
    });

    expect(unknown).toEqual([]);
  });

  it('names files that there are', () => {
    const files = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0]!),
    );

    expect(files.length).toBeGreaterThan(0);
    expect([...files, 'infra/agent/agent-seccomp.json'].filter((file) => !existsSync(join(repository, file)))).toEqual(
      [],
    );
  });

  function isAgent(name: string): boolean {
    return agents.some(([agent]) => agent === name);
  }
});

describe('the Dockerfiles', () => {
  const [coordinator = '', agent = ''] = ['coordinator', 'probe-agent'].map((name) =>
    read(`infra/docker/${name}.Dockerfile`),
  );
  const shared = (file: string): string => file.slice(file.indexOf('FROM '), file.indexOf('\nFROM runtime AS'));

  it('share their first stages to the letter, so that they are built once', () => {
    expect(shared(coordinator)).toContain('AS runtime');
    expect(shared(agent)).toBe(shared(coordinator));
  });

  it.each([
    ['coordinator', coordinator],
    ['probe-agent', agent],
  ])('end as a user without rights, with a health check: %s', (_, file) => {
    expect(file.match(/^USER .*$/gm)).toEqual(['USER vantage']);
    expect(file).toContain('\nHEALTHCHECK ');
    expect(file).toContain('FROM node:24-bookworm-slim');
  });

  it('fail where the web page, the table of networks or the raw socket module is missing', () => {
    for (const piece of ['dist/page/index.html', 'asn.mmdb']) {
      expect(shared(coordinator)).toMatch(new RegExp(`test -s "\\$\\(find [^)]*${piece}`));
    }
    // The command loads the module, and fails if that fails.
    expect(shared(coordinator)).toContain('&& node infra/setup/native-module.mjs /out/probe-agent');
  });

  it.each([
    ['coordinator', coordinator],
    ['probe-agent', agent],
  ])('ask for health with variables that the program has: %s', (name, file) => {
    const [, words = ''] = /CMD \["node", "\/usr\/local\/lib\/vantage\/healthy\.mjs", (.*)\]/.exec(file) ?? [];
    const [port = '', host = ''] = words.split(', ').map((word) => JSON.parse(word) as string);
    const known = name === 'coordinator' ? coordinatorVariables : agentVariables;

    expect([port, host].filter((variable) => !known.has(variable))).toEqual([]);
    expect(file).toContain(`${port}=`);
  });
});

describe('the bounds of memory', () => {
  const [ofCoordinator, ofAgent] = [nodeFlags.coordinator.join(' '), nodeFlags['probe-agent'].join(' ')];
  const words = (flags: string): string =>
    flags
      .split(' ')
      .map((flag) => `"${flag}"`)
      .join(', ');

  it.each([
    ['infra/docker/coordinator.Dockerfile', `CMD ["node", ${words(ofCoordinator)}, "dist/main.js"]`],
    ['infra/docker/probe-agent.Dockerfile', `CMD ["node", ${words(ofAgent)}, "dist/main.js"]`],
    ['docker-compose.yml', `[node, ${ofCoordinator.replaceAll(' ', ', ')}, --env-file=/setup/coordinator/`],
    ['docker-compose.yml', `[node, ${ofAgent.replaceAll(' ', ', ')}, --env-file=/setup/agent/`],
    ['infra/agent/vantage-agent.service', `ExecStart=/usr/bin/node ${ofAgent} /opt/`],
    ['package.json', `"agent": ". ./infra/setup/ready.sh; exec node ${ofAgent} `],
  ])('is the same in every way to start a program: %s', (file, command) => {
    // The formatter breaks long lists.
    const text = read(file).replaceAll(/\[\s+/g, '[').replaceAll(/,\s+/g, ', ');

    expect(text).toContain(command);
  });

  it.each(Object.entries(nodeFlags))('leave Node the compiled code of its own modules: %s', async (_name, flags) => {
    const count =
      "require('node:https'); const { internalBinding } = require('internal/test/binding'); " +
      "console.log(internalBinding('builtins').getCacheUsage().compiledWithoutCache.size)";
    const words = [...flags, '--expose-internals', '--no-warnings', '--eval', count];

    expect((await promisify(execFile)(process.execPath, words)).stdout.trim()).toBe('0');
  });

  it.each([
    'infra/docker/coordinator.Dockerfile',
    'infra/docker/probe-agent.Dockerfile',
    'infra/agent/vantage-agent.service',
  ])('of malloc are those of `npm start`: %s', (file) => {
    const settings = Object.entries(mallocSettings).map(([name, value]) => `${name}=${value}`);

    expect(read(file)).toContain(settings.join(' '));
  });
});

describe('an agent in a region', () => {
  it('runs under compose as in the service', () => {
    const { agent } = compose('infra/agent/compose.yml');
    const model = services['demo-1']!;

    for (const key of ['cap_drop', 'cap_add', 'read_only', 'mem_limit', 'pids_limit'] as const) {
      expect(agent?.[key]).toEqual(model[key]);
    }
    expect(agent?.security_opt).toEqual(['seccomp=agent-seccomp.json']);
  });

  it('has an example of its environment that sets what it knows', () => {
    const variables = [...read('infra/agent/agent.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(
      ([, name = '']) => name,
    );

    expect(variables).toContain('REDIS_CA');
    expect(variables.filter((name) => !agentVariables.has(name))).toEqual([]);
  });

  it('runs under systemd with one capability and without becoming more', () => {
    const unit = read('infra/agent/vantage-agent.service');
    const values = (key: string): readonly string[] =>
      [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

    expect(values('AmbientCapabilities')).toEqual(['CAP_NET_RAW']);
    expect(values('CapabilityBoundingSet')).toEqual(['CAP_NET_RAW']);
    expect(values('NoNewPrivileges')).toEqual(['yes']);
    expect(values('DynamicUser')).toEqual(['yes']);
    // A CA file of the operator may be in the folder.
    expect(values('InaccessiblePaths')).toEqual(['-/etc/vantage/agent.env']);
    // systemd applies the lines in order: calls that Chromium's sandbox needs must be allowed after `~@mount` denies
    // them.
    const filters = values('SystemCallFilter');
    expect(filters.findIndex((line) => line.includes('chroot'))).toBeGreaterThan(
      filters.findIndex((line) => line.includes('@mount')),
    );
    const variables = values('Environment').flatMap((line) => line.split(' ').map((pair) => pair.split('=')[0]!));
    const ofOthers = new Set(['NODE_ENV', ...Object.keys(mallocSettings)]);
    expect(variables.filter((name) => !ofOthers.has(name) && !agentVariables.has(name))).toEqual([]);
  });
});
