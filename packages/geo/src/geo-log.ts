/** Structured, fields first, as pino takes it. */
export interface GeoLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
}
