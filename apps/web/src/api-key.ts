/** The API key of this tab, kept in its session storage. */
export interface KeyHolder {
  readonly key: () => string | undefined;
  /** True after the service answered that the key is not valid. */
  readonly isRefused: () => boolean;
  readonly hold: (key: string | undefined) => void;
  /** Calls the listener after each change until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * `fetch` with the key. A GET that is refused with 401 or 403 is sent again without the key; once the key is known to
   * be invalid, a GET is sent without it.
   */
  readonly fetch: typeof fetch;
}

const STORED = 'vantage.key';
/** Length of `vtg_` and the prefix of a key, which may be shown. */
const VISIBLE = 12;

export function openKeyHolder(send: typeof fetch): KeyHolder {
  let key = stored();
  let refused = false;
  const listeners = new Set<() => void>();
  const set = (next: string | undefined, isRefused: boolean): void => {
    [key, refused] = [next, isRefused];
    for (const listener of listeners) listener();
  };
  return {
    key: () => key,
    isRefused: () => refused,
    hold: (next) => {
      store(next);
      set(next, false);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    fetch: async (input, init = {}) => {
      const used = key;
      const isRead = init.method === undefined || init.method === 'GET';
      if (used === undefined || (refused && isRead)) return send(input, init);
      const response = await send(input, withKey(used, init));
      if (response.status === 401 && key === used) set(used, true);
      return isRead && (response.status === 401 || response.status === 403) ? send(input, init) : response;
    },
  };
}

export function withKey(key: string, init: RequestInit): RequestInit {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${key}`);
  return { ...init, headers };
}

/** The part of a key that may be shown. */
export function visiblePart(key: string): string {
  return key.slice(0, VISIBLE);
}

function stored(): string | undefined {
  try {
    return sessionStorage.getItem(STORED) ?? undefined;
  } catch {
    return undefined;
  }
}

function store(key: string | undefined): void {
  try {
    if (key === undefined) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, key);
  } catch {
    // Storage is blocked: the key lasts as long as the page.
  }
}
