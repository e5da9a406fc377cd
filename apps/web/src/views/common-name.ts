/**
 * Common name of a distinguished name with the escapes of RFC 4514 undone, else the whole name. The attributes are
 * separated by `, ` or ` + `; a value may have a comma, which is escaped, and a slash.
 */
export function commonName(name: string): string {
  const value = /(?:^|, | \+ )CN=((?:\\.|(?!, [\w.]+=| \+ [\w.]+=)[^\\])+)/s.exec(name)?.[1];
  return value === undefined ? name : value.replaceAll(/\\([\dA-F]{2}|.)/gs, unescaped);
}

function unescaped(_all: string, escape: string): string {
  return escape.length === 2 ? String.fromCharCode(Number.parseInt(escape, 16)) : escape;
}
