/** A body of `POST /check` that must be refused, and the reason. */
export interface HostileInput {
  readonly why: string;
  readonly body: unknown;
}
