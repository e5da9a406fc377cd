export { openPage, type Page, type PageAnswer, type PageRequest } from './page.ts';
