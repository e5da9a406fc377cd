import { escapeText } from '@vantage/contract';

/** Builds a JSON pointer (RFC 6901) that is safe to display: names from clients are escaped and truncated. */
export function pointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${pointerPart(String(part))}`).join('');
}

function pointerPart(name: string): string {
  return escapeText(name, 64).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Parses a pointer from ajv. */
export function pointerParts(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
