declare module 'geoip-lite' {
  interface Lookup {
    readonly country: string;
    /** ISO 3166-2 subdivision code without the country. */
    readonly region: string;
    readonly city: string;
    readonly timezone?: string;
    /** Degrees north and east. */
    readonly ll: readonly [number | null, number | null];
  }
  const geoip: { readonly lookup: (address: string) => Lookup | null };
  export default geoip;
}
