/** The classes and types of queries that blackbox_exporter knows by name (github.com/miekg/dns). */
export const queryClasses: ReadonlySet<string> = new Set(['IN', 'CS', 'CH', 'HS', 'NONE', 'ANY']);

const types =
  'A NS MD MF CNAME SOA MB MG MR NULL PTR HINFO MINFO MX TXT RP AFSDB X25 ISDN RT NSAP-PTR SIG KEY PX GPOS AAAA LOC NXT ' +
  'EID NIMLOC SRV ATMA NAPTR KX CERT DNAME OPT APL DS SSHFP RRSIG NSEC DNSKEY DHCID NSEC3 NSEC3PARAM TLSA SMIMEA HIP ' +
  'NINFO RKEY TALINK CDS CDNSKEY OPENPGPKEY CSYNC ZONEMD SVCB HTTPS SPF UINFO UID GID UNSPEC NID L32 L64 LP EUI48 EUI64 ' +
  'URI CAA AVC AMTRELAY TKEY TSIG IXFR AXFR MAILB MAILA ANY TA DLV None Reserved';

export const queryTypes: ReadonlySet<string> = new Set(types.split(' '));
