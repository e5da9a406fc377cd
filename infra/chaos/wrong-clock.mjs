/** Loaded before a program: its time of day is wrong by `CHAOS_CLOCK_OFF_BY_MS`; its monotonic clock is not. */
const offBy = Number(process.env.CHAOS_CLOCK_OFF_BY_MS);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offBy);
    else super(...given);
  }

  static now() {
    return RealDate.now() + offBy;
  }
};
