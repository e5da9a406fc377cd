import { problemTypes, type ProblemType } from '@vantage/contract';

/** Every link the service hands out, made from `PUBLIC_URL` and never from the `Host` header. */
export interface Links {
  /** The base address without a slash at its end, such as `https://vantage.example/net`. */
  readonly publicUrl: string;
  /** The path of the base address: empty, or `/net`. */
  readonly basePath: string;
  /** A path of the service as a browser asks for it: with the prefix of the base address. */
  readonly path: (path: `/${string}`) => string;
  /** The `type` of a problem document: an absolute URI that resolves to a page. */
  readonly problem: (type: ProblemType) => string;
}

/** @param publicUrl an absolute http(s) URL without query and fragment */
export function createLinks(publicUrl: string): Links {
  const { origin, pathname } = new URL(publicUrl);
  const basePath = pathname.replace(/\/+$/, '');
  return {
    publicUrl: `${origin}${basePath}`,
    basePath,
    path: (path) => `${basePath}${path}`,
    problem: (type) => `${origin}${basePath}${problemPath(type)}`,
  };
}

export function problemPath(type: ProblemType): `/${string}` {
  return `/problems/${type}`;
}

export function isProblemType(name: string): name is ProblemType {
  return Object.hasOwn(problemTypes, name);
}
