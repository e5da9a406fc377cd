/** View selected by the URL. */
export type Route =
  | { readonly view: 'home'; readonly query: string }
  | { readonly view: 'check'; readonly id: string }
  | { readonly view: 'compare'; readonly a: string; readonly b: string; readonly hasDefaults: boolean }
  | { readonly view: 'probes' }
  | { readonly view: 'monitors' }
  | { readonly view: 'monitor'; readonly name: string }
  | { readonly view: 'nowhere' };

/** @param basePath path of the base URL: empty, or `/net` */
export function routeOf(url: { readonly pathname: string; readonly search: string }, basePath: string): Route {
  const inside = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : url.pathname;
  if (inside === '/' || inside === '') {
    return { view: 'home', query: url.search };
  }
  if (inside === '/status') return { view: 'probes' };
  if (inside === '/m') return { view: 'monitors' };
  const name = /^\/m\/([a-z0-9][a-z0-9-]{0,62})$/.exec(inside)?.[1];
  if (name !== undefined) return { view: 'monitor', name };
  const [, a, b] = /^\/c\/([A-Za-z0-9_-]{1,64})\/compare\/([A-Za-z0-9_-]{1,64})$/.exec(inside) ?? [];
  if (a !== undefined && b !== undefined) {
    const hasDefaults = new URLSearchParams(url.search).get('options') === 'default';
    return { view: 'compare', a, b, hasDefaults };
  }
  const id = /^\/c\/([A-Za-z0-9_-]{1,64})$/.exec(inside)?.[1];
  return id === undefined ? { view: 'nowhere' } : { view: 'check', id };
}
