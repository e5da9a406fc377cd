/** What the build computes; `forms.ts` and `world-map.ts` know the types. */
declare module 'virtual:*' {
  export const value: unknown;
}

declare module '*.css';
