import { randomUUID } from 'node:crypto';

/** The parts of CycloneDX 1.6 that are read or written here. */
export interface Bom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly component: Component; readonly [field: string]: unknown };
  readonly components: readonly Component[];
  readonly [field: string]: unknown;
}

export interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly 'bom-ref'?: string;
  readonly [field: string]: unknown;
}

/** Contents of an image, as listed inside it. */
export interface ImageContents {
  /** Identifier of the image: the digest of its configuration. */
  readonly id: string;
  /** Versions of Node.js and its compiled-in dependencies. */
  readonly node: Readonly<Record<string, string>>;
  /** `name@version` of every package below `node_modules`. */
  readonly packages: readonly string[];
  readonly debian: readonly DebianPackage[];
}

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/**
 * The bill of materials of an image: its contents, without packages that only its lockfile names.
 *
 * @param application the bill of the package that the image runs: licences and hashes of the npm packages come from
 * it
 */
export function imageBom(name: string, application: Bom, contents: ImageContents): Bom {
  const known = new Map(application.components.map((component) => [npmName(component), component]));
  const npm = contents.packages.map((id) => known.get(id) ?? npmComponent(id));
  const components = [...npm, nodeComponent(contents.node), ...contents.debian.map(debianComponent)];
  const { tools } = application.metadata;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: {
      timestamp: new Date().toISOString(),
      tools,
      component: {
        type: 'container',
        'bom-ref': name,
        name,
        version: application.metadata.component.version,
        hashes: [{ alg: 'SHA-256', content: contents.id.replace('sha256:', '') }],
      },
    },
    components,
  };
}

function npmName({ group, name, version }: Component): string {
  return `${typeof group === 'string' && group !== '' ? `${group}/` : ''}${name}@${version}`;
}

function npmComponent(id: string): Component {
  const at = id.lastIndexOf('@');
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;
  return { type: 'library', name, version, purl, 'bom-ref': purl };
}

function nodeComponent({ node = '', ...compiledIn }: ImageContents['node']): Component {
  const purl = `pkg:generic/node@${node}`;
  return {
    type: 'application',
    name: 'node',
    version: node,
    purl,
    'bom-ref': purl,
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    properties: Object.entries(compiledIn).map(([name, value]) => ({ name: `node:versions:${name}`, value })),
  };
}

function debianComponent({ name, version, architecture }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { type: 'library', name, version, purl, 'bom-ref': purl };
}
