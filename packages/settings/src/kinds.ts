/** Parser of a variable's text and its name on the reference page. */
export interface VariableKind<T> {
  /** Name on the reference page, such as `integer from 1 to 65535`. */
  readonly name: string;
  /** @throws Error whose message completes the sentence “<VARIABLE> …” */
  readonly parse: (text: string) => T;
}

export const text: VariableKind<string> = { name: 'text', parse: (value) => value };

export const boolean: VariableKind<boolean> = {
  name: '`true` or `false`',
  parse: (value) => {
    if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
    return value === 'true';
  },
};

export function integer(minimum: number, maximum: number): VariableKind<number> {
  return {
    name: `integer from ${minimum} to ${maximum}`,
    parse: (value) => {
      const parsed = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (!(parsed >= minimum && parsed <= maximum))
        throw new Error(`must be an integer from ${minimum} to ${maximum}`);
      return parsed;
    },
  };
}

export function number(minimum: number, maximum: number): VariableKind<number> {
  return {
    name: `number from ${minimum} to ${maximum}`,
    parse: (value) => {
      // Node prints a number of at least 0.01 with up to 18 decimals.
      const parsed = /^-?\d{1,15}(\.\d{1,20})?$/.test(value) ? Number(value) : Number.NaN;
      if (!(parsed >= minimum && parsed <= maximum)) throw new Error(`must be a number from ${minimum} to ${maximum}`);
      return parsed;
    },
  };
}

export function oneOf<const T extends string>(words: readonly T[]): VariableKind<T> {
  return {
    name: words.map((word) => `\`${word}\``).join(', '),
    parse: (value) => {
      const word = words.find((known) => known === value);
      if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
      return word;
    },
  };
}

/** @param protocols including the colon, such as `['redis:', 'rediss:']` */
export function url(protocols: readonly string[]): VariableKind<string> {
  return {
    name: `URL (${protocols.join(' or ')})`,
    parse: (value) => {
      const parsed = URL.parse(value);
      if (parsed === null || !protocols.includes(parsed.protocol)) {
        throw new Error(`must be a URL that begins with ${protocols.map((name) => `${name}//`).join(' or ')}`);
      }
      return value;
    },
  };
}

/** Contact of the operator. It is sent in headers, packets and web files: printable ASCII, bounded. */
export const contact: VariableKind<string> = {
  name: 'URL (https or mailto) or mail address, at most 200 characters',
  parse: (value) => {
    const isMail = /^[!-'*+\-./0-9=?A-Z^-~]+@[A-Za-z0-9.-]+$/.test(value);
    // RFC 9116 section 2.5.3: a contact page must use https.
    const isUrl = ['https:', 'mailto:'].includes(URL.parse(value)?.protocol ?? '');
    if (value.length > 200 || !/^[!-~]+$/.test(value) || /[()]/.test(value) || !(isMail || isUrl)) {
      throw new Error('must be a URL (https or mailto) or a mail address of at most 200 characters');
    }
    return value;
  },
};

/** Comma-separated; spaces around an item are trimmed, empty text is an empty list. */
export function list<T>(item: VariableKind<T>): VariableKind<readonly T[]> {
  return {
    name: `comma-separated list, each: ${item.name}`,
    parse: (value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map((part) => parseItem(item, part)),
  };
}

function parseItem<T>(item: VariableKind<T>, part: string): T {
  try {
    return item.parse(part);
  } catch (error) {
    throw new Error(`has the item “${part}”, which ${Error.isError(error) ? error.message : 'cannot be read'}`, {
      cause: error,
    });
  }
}
