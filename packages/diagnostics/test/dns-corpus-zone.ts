/** A zone with the cases of RFC 1034, 2308, 4592, 6604 and 6672, served by several server programs. */
export const CORPUS_ZONE = 'corpus.example.';

export const corpusZoneFile = `$ORIGIN ${CORPUS_ZONE}
$TTL 3600
@ SOA ns hostmaster.example.com. 1 7200 3600 1209600 300
@ NS ns
ns A 127.0.0.1
www A 192.0.2.1
www A 192.0.2.2
six AAAA 2001:db8::6
leaf.branch TXT "below a name that has no records"
alias CNAME www
chain CNAME alias
half CNAME six
outside CNAME www.elsewhere.example.net.
dangling CNAME missing
one CNAME two
two CNAME one
old DNAME new
host.new A 192.0.2.3
*.wild A 192.0.2.4
sub NS ns.sub
ns.sub A 127.0.0.1
`;
