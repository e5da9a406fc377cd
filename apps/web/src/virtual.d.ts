/** Modules computed by the build; the files that import them add the types. */
declare module 'virtual:*' {
  export const value: unknown;
}

declare module '*.css';
