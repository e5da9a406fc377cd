/**
 * Lua scripts of BullMQ, for which it ships no types. The number is the count of keys and may differ between releases.
 */
declare module 'bullmq/dist/cjs/scripts/addStandardJob-9.js' {
  export const addStandardJob: { readonly content: string };
}
declare module 'bullmq/dist/cjs/scripts/moveToActive-11.js' {
  export const moveToActive: { readonly content: string };
}
declare module 'bullmq/dist/cjs/scripts/moveToFinished-14.js' {
  export const moveToFinished: { readonly content: string };
}
