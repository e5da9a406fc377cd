/** A check that was started or opened in this browser; stored only here. */
export interface RecentCheck {
  readonly id: string;
  readonly type: string;
  readonly host: string;
  /** ISO 8601. */
  readonly at: string;
  /** A verdict, or `gone` if the service no longer has the check. */
  readonly verdict?: string;
  /** Body of the request, if this browser sent it. */
  readonly request?: unknown;
  /** Fields of the request as far as they are known. */
  readonly asked?: unknown;
}

const KEY = 'vantage.recent';
const MOST = 60;

export function recentChecks(): readonly RecentCheck[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isRecentCheck) : [];
  } catch {
    return [];
  }
}

/** Adds a check at the top, or updates it in its place without changing its time. */
export function remember(check: RecentCheck): void {
  const before = recentChecks();
  const known = before.find(({ id }) => id === check.id);
  const rest = before.filter(({ id }) => id !== check.id);
  write(
    known === undefined
      ? [check, ...rest]
      : before.map((other) => (other.id === check.id ? { ...other, ...check, at: other.at } : other)),
  );
}

/** Adds the verdict of a check that is still in the list. */
export function rememberVerdict(id: string, verdict: string): void {
  write(recentChecks().map((check) => (check.id === id ? { ...check, verdict } : check)));
}

export function forget(id: string): void {
  write(recentChecks().filter((check) => check.id !== id));
}

/** Calls back when another tab has changed the list. */
export function onOtherTab(callback: () => void): () => void {
  const changed = ({ key }: StorageEvent): void => {
    // The key is null when all of the storage was cleared.
    if (key === KEY || key === null) callback();
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
}

export function forgetAll(): void {
  write([]);
}

function write(checks: readonly RecentCheck[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(checks.slice(0, MOST)));
  } catch {
    // Storage is full or blocked: nothing is stored.
  }
}

function isRecentCheck(value: unknown): value is RecentCheck {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, host, at } = value as Record<string, unknown>;
  return [id, type, host, at].every((field) => typeof field === 'string');
}
