/** A package that a source imports at run time. */
export interface RuntimeImport {
  readonly file: string;
  readonly module: string;
}

/** Imports that remain when the types are gone: `import { type A }` loads its module, `import type { A }` does not. */
const IMPORTS = [
  /^(?:import|export)\b(?!\s+type\b)[^'";]*?\bfrom\s*'([^']+)'/gm,
  /^import\s*'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'/g,
  /\b(?:require|require\.resolve|import\.meta\.resolve)\(\s*'([^']+)'/g,
];

/** @returns packages that the source loads, without modules of Node and files of its own package */
export function runtimeImports(file: string, source: string): readonly RuntimeImport[] {
  const code = source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const names = IMPORTS.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name]) => name!));
  return [...new Set(names)]
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
    .map((name) => ({ file, module: name.split('/', name.startsWith('@') ? 2 : 1).join('/') }));
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** @returns imports of packages that are not installed with the package, because its manifest does not list them */
export function undeclaredImports(manifest: Manifest, imports: readonly RuntimeImport[]): readonly RuntimeImport[] {
  const installed = new Set([
    manifest.name,
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.optionalDependencies ?? {}),
  ]);
  return imports.filter(({ module }) => !installed.has(module));
}
