import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { settings as coordinatorSettings } from '@vantage/coordinator';
import { settings as agentSettings } from '@vantage/probe-agent';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';

jest.setTimeout(600_000);

const chart = join(import.meta.dirname, 'vantage');
const read = (file: string): string => readFileSync(join(chart, file), 'utf8');
const defaults = parse(read('values.yaml')) as Values;
const validate = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(read('values.schema.json')) as object);

type Values = Readonly<Record<string, unknown>>;

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: { readonly type?: string };
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly rules?: readonly { readonly host: string }[];
    readonly egress?: readonly {
      readonly to: readonly { readonly ipBlock?: { readonly cidr: string } }[];
      readonly ports?: readonly { readonly port: number }[];
    }[];
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly hostNetwork?: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly seccompProfile: { readonly type: string } };
  readonly containers: readonly Container[];
  readonly volumes: readonly {
    readonly name: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string }[];
  readonly livenessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly readOnlyRootFilesystem: boolean;
    readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] };
  };
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly volumeMounts: readonly { readonly name: string }[];
}

/** Helm's template engine is that of Go, with the functions of sprig: both are packages of Debian. */
const packages = ['golang-1.19-go', 'golang-1.19-src', 'golang-github-masterminds-sprig-dev'];
const missing = await packagesMissing(packages);

let renderer: Promise<string> | undefined;

/** Compiles the renderer into the folder of Go's cache: `go build` links a program again only if it has changed. */
async function buildRenderer(): Promise<string> {
  const { folder } = await unpackPackages(...packages);
  // Packages that are installed on the machine are not unpacked.
  const go = [folder, '/']
    .map((root) => join(root, 'usr/lib/go-1.19'))
    .find((root) => existsSync(join(root, 'bin/go')))!;
  const env = {
    ...process.env,
    GOROOT: go,
    GOPATH: `${join(folder, 'usr/share/gocode')}:/usr/share/gocode`,
    GOCACHE: join(folder, 'cache'),
    GO111MODULE: 'off',
    // With C, the packages that Debian has compiled are used; without it, those of the network are compiled here.
    CGO_ENABLED: (await hasC()) ? '1' : '0',
    GOTELEMETRY: 'off',
    // Compilers and linker end before a collection of garbage would pay; none needs more than 150 MiB.
    GOGC: 'off',
  };
  const program = join(folder, 'cache/render');
  // Without symbols (`-s -w`) the linker takes less time, and without optimisations (`-N -l`) the compiler.
  const plain = ['github.com/...', 'golang.org/...', 'gopkg.in/...'].map((name) => `-gcflags=${name}=-N -l`);
  const words = ['build', '-ldflags=-s -w', ...plain, '-o', program, join(import.meta.dirname, 'render.go')];
  await promisify(execFile)(join(go, 'bin/go'), words, { env });
  return program;
}

async function hasC(): Promise<boolean> {
  return promisify(execFile)('gcc', ['--version']).then(
    () => true,
    () => false,
  );
}

async function render(values: Values): Promise<string> {
  const run = promisify(execFile)(await (renderer ??= buildRenderer()), [chart, 'vantage']);
  run.child.stdin!.end(JSON.stringify({ ...defaults, ...values }));
  return (await run).stdout;
}

const example: Values = {
  url: 'https://vantage.example.com/net',
  image: { ...(defaults['image'] as object), prefix: 'registry.example.com/net/' },
  agents: [
    { id: 'fra-1', token: 'fra-1-token' },
    { id: 'nyc-1', withoutBrowser: true, hostNetwork: true, settings: { CONTACT: 'noc@example.com' } },
  ],
};

describe('the values of the chart', () => {
  it.each([
    ['the example', example, []],
    ['no address of the service', {}, ['/url must match pattern']],
    ['a misspelt name', { ...example, coordinators: {} }, ['must NOT have additional properties']],
    [
      'an agent without an id',
      { ...example, agents: [{ token: 'a' }] },
      ["/agents/0 must have required property 'id'"],
    ],
    [
      'an id that is no name in Kubernetes',
      { ...example, agents: [{ id: 'FRA 1' }] },
      ['/agents/0/id must match pattern'],
    ],
    [
      'a port that probes do not ask',
      { ...example, coordinator: { settings: { METRICS_PORT: 1 } } },
      ['/coordinator/settings must NOT be valid', '/coordinator/settings property name must be valid'],
    ],
    ['no coordinator', { ...example, coordinator: { replicas: 0 } }, ['/coordinator/replicas must be >= 1']],
  ])('are validated: %s', (_reason, values, errors) => {
    validate({ ...defaults, ...values });
    const found = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

    expect(found).toHaveLength(errors.length);
    for (const [index, error] of errors.entries()) expect(found[index]).toContain(error);
  });

  it('have a version and a name that Helm accepts', () => {
    const about = parse(read('Chart.yaml')) as Values;

    expect(about).toMatchObject({ apiVersion: 'v2', name: 'vantage', type: 'application' });
    expect([about['version'], about['appVersion']]).toEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
      about['version'],
    ]);
  });
});

(missing === null ? describe : describe.skip)(
  `the chart (${missing ?? 'rendered by the template engine of Go'})`,
  () => {
    let resources: readonly Resource[];
    const of = (kind: string, name?: string): readonly Resource[] =>
      resources.filter((resource) => resource.kind === kind && (name === undefined || resource.metadata.name === name));
    const podOf = (name: string): PodSpec => of('Deployment', name)[0]!.spec.template!.spec;

    beforeAll(async () => {
      resources = resourcesOf(await render(example));
    });

    it('has resources of versions and kinds that there are, each with a name and labels', () => {
      const kinds = new Set(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));

      expect([...kinds].toSorted()).toEqual([
        'apps/v1 Deployment',
        'networking.k8s.io/v1 Ingress',
        'networking.k8s.io/v1 NetworkPolicy',
        'policy/v1 PodDisruptionBudget',
        'v1 PersistentVolumeClaim',
        'v1 Service',
      ]);
      for (const { kind, metadata } of resources) {
        expect(metadata.name).toMatch(/^[a-z0-9-]{1,63}$/);
        expect([kind, metadata.labels['helm.sh/chart']]).toEqual([kind, 'vantage-0.1.0']);
      }
      const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
    });

    it.each(['coordinator', 'agent-fra-1', 'agent-nyc-1'])('runs %s without rights, with what it mounts', (name) => {
      const { selector, template } = of('Deployment', name)[0]!.spec;
      const { metadata, spec } = template!;
      const [container] = spec.containers;

      expect(metadata.labels).toMatchObject(selector!.matchLabels!);
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext.runAsNonRoot).toBe(true);
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: name !== 'coordinator',
        readOnlyRootFilesystem: true,
        capabilities: name === 'coordinator' ? { drop: ['ALL'] } : { drop: ['ALL'], add: ['NET_RAW'] },
      });
      expect(container?.volumeMounts.map((mount) => mount.name)).toEqual(spec.volumes.map((volume) => volume.name));
      expect(container?.ports.map((port) => port.name)).toContain(container?.livenessProbe.httpGet.port);
      expect(container?.resources.limits.memory).toMatch(/^\d+[GM]i$/);
      const known = new Set<string>(
        Object.values(name === 'coordinator' ? coordinatorSettings : agentSettings).map(({ env }) => env),
      );
      expect(container?.env.map((variable) => variable.name).filter((variable) => !known.has(variable))).toEqual([]);
    });

    it('has images of the registry, with the version of the release, and the small one for an agent without a browser', () => {
      const images = of('Deployment').map(({ spec }) => spec.template!.spec.containers[0]!.image);

      expect(images.toSorted()).toEqual([
        'registry.example.com/net/vantage-coordinator:0.1.0',
        'registry.example.com/net/vantage-probe-agent-slim:0.1.0',
        'registry.example.com/net/vantage-probe-agent:0.1.0',
      ]);
    });

    it('lets agents drain: five seconds more than DRAIN_SECONDS, and fifteen at least', async () => {
      const agents = [
        { id: 'a' },
        { id: 'b', settings: { DRAIN_SECONDS: 60 } },
        { id: 'c', settings: { DRAIN_SECONDS: '0' } },
      ];
      const rendered = resourcesOf(await render({ ...example, agents })).filter(({ kind }) => kind === 'Deployment');

      expect(
        ['agent-a', 'agent-b', 'agent-c'].map(
          (name) =>
            rendered.find(({ metadata }) => metadata.name === name)!.spec.template!.spec.terminationGracePeriodSeconds,
        ),
      ).toEqual([15, 65, 15]);
    });

    it('never runs two agents under one id', () => {
      const agents = of('Deployment').filter(({ metadata }) => metadata.name.startsWith('agent-'));

      expect(agents.length).toBeGreaterThan(0);
      for (const { spec } of agents) expect([spec.replicas, spec.strategy?.type]).toEqual([1, 'Recreate']);
    });

    it('connects an agent with a token to the service, with a volume for its key; another to Redis', () => {
      const [token, login] = ['agent-fra-1', 'agent-nyc-1'].map((name) => podOf(name).containers[0]!);

      expect(token?.envFrom).toEqual([{ secretRef: { name: 'fra-1-token' } }]);
      expect(token?.env).toContainEqual({ name: 'VANTAGE_URL', value: 'https://vantage.example.com/net' });
      expect(podOf('agent-fra-1').volumes.at(-1)?.persistentVolumeClaim?.claimName).toBe('agent-fra-1');
      expect(of('PersistentVolumeClaim').map(({ metadata }) => metadata.name)).toEqual(['agent-fra-1']);
      expect(login?.envFrom).toEqual([{ secretRef: { name: 'agent-nyc-1' } }]);
      expect(login?.env.map(({ name }) => name)).not.toContain('VANTAGE_URL');
    });

    it('gives the wide system calls to a browser only, and metrics on the network of the node to the node only', () => {
      const types = ['agent-fra-1', 'agent-nyc-1'].map((name) => podOf(name).securityContext.seccompProfile.type);

      expect(types).toEqual(['Localhost', 'RuntimeDefault']);
      expect(podOf('agent-nyc-1').hostNetwork).toBe(true);
      expect(podOf('agent-nyc-1').containers[0]?.env).toContainEqual({ name: 'METRICS_HOST', value: '127.0.0.1' });
      expect(podOf('agent-nyc-1').containers[0]?.env).toContainEqual({ name: 'CONTACT', value: 'noc@example.com' });
    });

    it('lets agents ask the resolver of their node, whose address is link-local', async () => {
      const policyOf = (all: readonly Resource[]) =>
        all.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'probe-agent')!.spec.egress!;
      const resolversOf = (all: readonly Resource[]) =>
        policyOf(all)
          .filter(({ ports = [] }) => ports.some(({ port }) => port === 53))
          .flatMap(({ to }) => to.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock.cidr])));
      const networkPolicy = { ...(defaults['networkPolicy'] as object), resolvers: ['10.0.0.53/32', 'fd00::53/128'] };

      expect(resolversOf(resources)).toEqual(['169.254.20.10/32']);
      expect(resolversOf(resourcesOf(await render({ ...example, networkPolicy })))).toEqual(networkPolicy.resolvers);
    });

    it('has the host of the address in the ingress', () => {
      expect(of('Ingress')[0]?.spec.rules?.map(({ host }) => host)).toEqual(['vantage.example.com']);
    });

    it('passes settings on in the form of integers, also in place of those of the chart, each once', async () => {
      const rendered = resourcesOf(
        await render({
          ...example,
          coordinator: {
            ...(defaults['coordinator'] as object),
            settings: {
              METRICS_HOST: '::',
              TRUSTED_PROXIES: 0,
              RATE_LIMIT_TARGET: 1_000_000,
              OTEL_TRACES_SAMPLER_ARG: 0.5,
            },
          },
          agents: [{ id: 'fra-1', token: 't', settings: { METRICS_HOST: '::1', OTEL_SDK_DISABLED: true } }],
        }),
      );
      const variablesOf = (name: string): readonly (readonly [string, string])[] =>
        rendered
          .find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)!
          .spec.template!.spec.containers[0]!.env.map((variable) => [variable.name, variable.value] as const)
          .toSorted(([one], [other]) => one.localeCompare(other));

      expect(variablesOf('coordinator')).toEqual([
        ['METRICS_HOST', '::'],
        ['METRICS_PORT', '9464'],
        ['OTEL_TRACES_SAMPLER_ARG', '0.5'],
        ['PUBLIC_URL', 'https://vantage.example.com/net'],
        ['RATE_LIMIT_TARGET', '1000000'],
        ['REDIS_CA_FILE', '/etc/vantage/redis/ca.crt'],
        ['TRUSTED_PROXIES', '0'],
      ]);
      expect(variablesOf('agent-fra-1')).toEqual([
        ['METRICS_HOST', '::1'],
        ['METRICS_PORT', '9464'],
        ['OTEL_SDK_DISABLED', 'true'],
        ['VANTAGE_URL', 'https://vantage.example.com/net'],
      ]);
    });

    it('leaves out what is switched off', async () => {
      const few = resourcesOf(
        await render({
          url: 'http://10.0.0.1:8080',
          ingress: { ...(defaults['ingress'] as object), enabled: false },
          networkPolicy: { ...(defaults['networkPolicy'] as object), enabled: false },
          coordinator: { ...(defaults['coordinator'] as object), redisCa: '' },
        }),
      );

      expect(few.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget']);
      expect(few[0]?.spec.template?.spec.volumes.map(({ name }) => name)).toEqual(['tmp']);
    });

    it('says what is missing', async () => {
      await expect(render({})).rejects.toThrow('url is required: the base address for clients');
    });
  },
);

function resourcesOf(rendered: string): readonly Resource[] {
  return parseAllDocuments(rendered).flatMap((document) => {
    expect(document.errors).toEqual([]);
    const resource = document.toJS() as Resource | null;
    return resource === null ? [] : [resource];
  });
}
