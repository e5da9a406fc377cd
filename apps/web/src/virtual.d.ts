/** Modules computed by the build; `forms.ts`, `opened-options.ts` and `world-map.ts` add the types. */
declare module 'virtual:*' {
  export const value: unknown;
}

declare module '*.css';
