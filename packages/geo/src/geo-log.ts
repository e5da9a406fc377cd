/** A structured logger, fields first, as in pino. */
export interface GeoLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
}
