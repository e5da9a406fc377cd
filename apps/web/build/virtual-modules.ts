import type { Plugin } from 'vite';

/**
 * Modules whose text is computed when the page is built.
 *
 * @param values what each module exports as `value`, by the name of the module
 */
export function virtualModules(values: Readonly<Record<string, () => unknown>>): Plugin {
  return {
    name: 'virtual-modules',
    resolveId: (id) => (Object.hasOwn(values, id) ? `\0${id}` : undefined),
    load(id) {
      const make = id.startsWith('\0') ? values[id.slice(1)] : undefined;
      // As one string: engines parse JSON faster than an object literal of its size.
      return make === undefined
        ? undefined
        : `export const value = JSON.parse(${JSON.stringify(JSON.stringify(make()))});`;
    },
  };
}
