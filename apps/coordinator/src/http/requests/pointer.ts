import { escapeText } from '@vantage/contract';

/** A JSON pointer (RFC 6901). Names that a caller made up are escaped and bounded, so that it can be shown. */
export function pointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${pointerPart(String(part))}`).join('');
}

function pointerPart(name: string): string {
  return escapeText(name, 64).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The parts of a pointer as ajv gives it. */
export function pointerParts(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
