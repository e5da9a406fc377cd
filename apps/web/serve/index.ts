export type { Preview } from './document-head.ts';
export { openPage, type Page, type PageAnswer, type PageRequest } from './page.ts';
