import type { Plugin } from 'vite';

/**
 * Modules whose content is computed during the build.
 *
 * @param values export `value` of each module, by module name
 */
export function virtualModules(values: Readonly<Record<string, () => unknown>>): Plugin {
  return {
    name: 'virtual-modules',
    resolveId: (id) => (Object.hasOwn(values, id) ? `\0${id}` : undefined),
    load(id) {
      const make = id.startsWith('\0') ? values[id.slice(1)] : undefined;
      return make === undefined
        ? undefined
        : `export const value = JSON.parse(${JSON.stringify(JSON.stringify(make()))});`;
    },
  };
}
