export { literalSurroundings } from './surroundings.ts';
