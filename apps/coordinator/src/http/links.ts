import { problemTypes, type ProblemType } from '@vantage/contract';

/** Links to the service, based on `PUBLIC_URL` and never on the `Host` header. */
export interface Links {
  /** The public URL without a trailing slash, such as `https://vantage.example/net`. */
  readonly publicUrl: string;
  /** The path of the public URL: empty, or for example `/net`. */
  readonly basePath: string;
  /** Absolute path, including that of the public URL. */
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
