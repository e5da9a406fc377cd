/** Lua of BullMQ, which has no types for it. The numbers are those of the keys; another release may have others. */
declare module 'bullmq/dist/cjs/scripts/addStandardJob-9.js' {
  export const addStandardJob: { readonly content: string };
}
declare module 'bullmq/dist/cjs/scripts/moveToActive-11.js' {
  export const moveToActive: { readonly content: string };
}
declare module 'bullmq/dist/cjs/scripts/moveToFinished-14.js' {
  export const moveToFinished: { readonly content: string };
}
