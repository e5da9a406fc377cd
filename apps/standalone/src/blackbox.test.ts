import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { SERVER_PACKAGES } from '../test/mail-and-file-servers.ts';
import { dialogueCases, dialogueModules } from '../test/dialogue-cases.ts';
import { startScrapeTargets, ZONE, type ScrapeTargets } from '../test/scrape-targets.ts';
import { temporaryFolder } from '../test/service.ts';
import { comparable, EXPORTER_PACKAGES, startSideBySide, type SideBySide } from '../test/side-by-side.ts';

const missing = await packagesMissing(EXPORTER_PACKAGES, ['knot', 'knot-dnsutils'], ...SERVER_PACKAGES);
// Root is needed for raw sockets and for port 53.
const itSideBySide = itNeeding(process.getuid?.() === 0 ? missing : 'root is needed', process.env['CI']);

const MODULES = `modules:
  icmp: {prober: icmp, timeout: 10s}
  tcp: {prober: tcp, timeout: 10s}
  http: {prober: http, timeout: 15s, http: {preferred_ip_protocol: ip4}}
  http_unfollowed: {prober: http, timeout: 15s, http: {follow_redirects: false}}
  http_404: {prober: http, timeout: 15s, http: {valid_status_codes: [404]}}
  http_302: {prober: http, timeout: 15s, http: {valid_status_codes: [302], no_follow_redirects: true}}
  http_head: {prober: http, timeout: 15s, http: {method: HEAD}}
  http_version_2: {prober: http, timeout: 15s, http: {valid_http_versions: [HTTP/2.0]}}
  http_no_http2: {prober: http, timeout: 15s, http: {enable_http2: false}}
  http_no_tls: {prober: http, timeout: 15s, http: {fail_if_ssl: true}}
  http_tls: {prober: http, timeout: 15s, http: {fail_if_not_ssl: true}}
  http_insecure: {prober: http, timeout: 15s, http: {tls_config: {insecure_skip_verify: true}}}
  http_short: {prober: http, timeout: 1s}
  http_small: {prober: http, timeout: 15s, http: {body_size_limit: 1KB}}
  http_body: {prober: http, timeout: 15s, http: {fail_if_body_not_matches_regexp: ['^Hello from /', '\\n$']}}
  http_no_body: {prober: http, timeout: 15s, http: {fail_if_body_matches_regexp: [nothing, '(?i)HELLO']}}
  http_both: {prober: http, timeout: 15s, http: {fail_if_body_not_matches_regexp: [Hello], fail_if_header_matches: [{header: X-Version, regexp: release}]}}
  http_header: {prober: http, timeout: 15s, http: {fail_if_header_not_matches: [{header: x-version, regexp: '^release-[0-9]$'}]}}
  http_no_header: {prober: http, timeout: 15s, http: {fail_if_header_matches: [{header: X-Version, regexp: '(?i)RELEASE'}]}}
  http_absent: {prober: http, timeout: 15s, http: {fail_if_header_matches: [{header: X-Absent, regexp: a}]}}
  http_may_be_absent: {prober: http, timeout: 15s, http: {fail_if_header_matches: [{header: X-Absent, regexp: a, allow_missing: true}]}}
  dns_any_matches: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: NS, validate_answer_rrs: {fail_if_matches_regexp: ['\\sNS\\s']}}}
  dns_all_match: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: NS, validate_answer_rrs: {fail_if_all_match_regexp: ['^example\\.com\\.\\t[0-9]+\\tIN\\tNS\\t']}}}
  dns_one_differs: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: NS, validate_answer_rrs: {fail_if_not_matches_regexp: [nowhere]}}}
  dns_none_matches: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: SOA, validate_answer_rrs: {fail_if_none_matches_regexp: ['^example\\.com\\.', nowhere]}}}
  dns_no_records: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: SOA, validate_authority_rrs: {fail_if_not_matches_regexp: [a]}}}
  dns_all_of_none: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: SOA, validate_authority_rrs: {fail_if_all_match_regexp: [a]}}}
  dns_soa: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: SOA, recursion_desired: false}}
  dns_tcp: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: NS, transport_protocol: tcp}}
  dns_nx: {prober: dns, timeout: 10s, dns: {query_name: no.such.${ZONE}, query_type: A}}
  dns_nx_valid: {prober: dns, timeout: 10s, dns: {query_name: no.such.${ZONE}, query_type: A, valid_rcodes: [NXDOMAIN]}}
`;

describe('a scrape of Vantage and one of blackbox_exporter with the same modules', () => {
  const data = temporaryFolder();
  let targets: ScrapeTargets;
  let both: SideBySide;

  beforeAll(async () => {
    if (missing !== null || process.getuid?.() !== 0) return;
    targets = await startScrapeTargets(data.folder);
    both = await startSideBySide(data.folder, MODULES + dialogueModules(targets.dialogues), targets.caFile);
  });

  afterAll(async () => {
    await both?.stop();
    await targets?.close();
    data.remove();
  });

  const cases: readonly (readonly [what: string, module: string, target: (of: ScrapeTargets) => string])[] = [
    ['an address that answers', 'icmp', () => '127.0.0.1'],
    ['an open port', 'tcp', ({ open }) => open],
    ['a closed port', 'tcp', ({ closed }) => closed],
    ['a page', 'http', ({ http }) => `${http}/`],
    ['a page without a scheme', 'http', ({ http }) => http.replace('http://', '')],
    ['a page with a date', 'http', ({ http }) => `${http}/modified`],
    ['a page in chunks', 'http', ({ http }) => `${http}/chunked`],
    ['a response without a body', 'http', ({ http }) => `${http}/empty`],
    ['a page that is missing', 'http', ({ http }) => `${http}/missing`],
    ['a page that is to be missing', 'http_404', ({ http }) => `${http}/missing`],
    ['a redirect', 'http', ({ http }) => `${http}/redirect`],
    ['a redirect that is not followed', 'http_unfollowed', ({ http }) => `${http}/redirect`],
    ['a redirect that is expected', 'http_302', ({ http }) => `${http}/redirect`],
    ['a page by HEAD', 'http_head', ({ http }) => `${http}/`],
    ['a server that refuses connections', 'http', ({ closed }) => `http://${closed}/`],
    ['HTTP/1.1 where HTTP/2 is asked for', 'http_version_2', ({ http }) => `${http}/`],
    ['HTTP/2', 'http_version_2', ({ https }) => `${https}/`],
    ['HTTP/1.1 over TLS', 'http_no_http2', ({ https }) => `${https}/`],
    ['a page over TLS', 'http', ({ https }) => `${https}/modified`],
    ['TLS where there is to be none', 'http_no_tls', ({ https }) => `${https}/`],
    ['no TLS where there is to be some', 'http_tls', ({ http }) => `${http}/`],
    ['TLS without verification', 'http_insecure', ({ https }) => `${https}/`],
    ['TLS to a server without it', 'http_short', ({ open }) => `https://${open}/`],
    ['a large page', 'http', ({ http }) => `${http}/large`],
    ['a page that is too large', 'http_small', ({ http }) => `${http}/large`],
    ['a body that is to match', 'http_body', ({ http }) => `${http}/`],
    ['a body that is to match and does not', 'http_body', ({ http }) => `${http}/large`],
    ['a body that is not to match', 'http_no_body', ({ http }) => `${http}/`],
    ['a body that does not match', 'http_no_body', ({ http }) => `${http}/large`],
    ['the body after a redirect', 'http_body', ({ http }) => `${http}/redirect`],
    ['a body by HTTP/2', 'http_body', ({ https }) => `${https}/`],
    ['a rule about bodies and a status that is not valid', 'http_body', ({ http }) => `${http}/missing`],
    ['a body that matches and a header that does not', 'http_both', ({ http }) => `${http}/`],
    ['a header that is to match', 'http_header', ({ http }) => `${http}/`],
    ['a header that is not to match', 'http_no_header', ({ http }) => `${http}/`],
    ['a rule about headers and a status that is not valid', 'http_no_header', ({ http }) => `${http}/missing`],
    ['a header that is absent', 'http_absent', ({ http }) => `${http}/`],
    ['a header that may be absent', 'http_may_be_absent', ({ http }) => `${http}/`],
    ['a record that is not to match', 'dns_any_matches', ({ dns }) => dns],
    ['records that all match', 'dns_all_match', ({ dns }) => dns],
    ['a record that is to match', 'dns_one_differs', ({ dns }) => dns],
    ['one of the records that matches', 'dns_none_matches', ({ dns }) => dns],
    ['a section that is empty', 'dns_no_records', ({ dns }) => dns],
    ['rules for all of no records', 'dns_all_of_none', ({ dns }) => dns],
    ['the SOA of a zone', 'dns_soa', ({ dns }) => dns],
    ['name servers by TCP', 'dns_tcp', ({ dns }) => dns],
    ['a name that does not exist', 'dns_nx', ({ dns }) => dns],
    ['a name that is not to exist', 'dns_nx_valid', ({ dns }) => dns],
    ['a server that is not there', 'dns_tcp', ({ noDns }) => noDns],
  ];

  for (const [what, module, target] of cases) {
    itSideBySide(`have the same series for ${what}`, async () => {
      const at = target(targets);
      const theirs = await both.scrape(both.exporter, module, at);
      const ours = await both.scrape(both.vantage, module, at);
      expect(theirs.size).toBeGreaterThan(4);
      expect(comparable(ours)).toEqual(comparable(theirs));
    });
  }

  for (const [what, module, target, success] of dialogueCases) {
    itSideBySide(`have the same series for ${what} over TCP`, async () => {
      const at = targets.dialogues.at[target];
      const theirs = await both.scrape(both.exporter, module, at);
      const ours = await both.scrape(both.vantage, module, at);
      expect(theirs.get('probe_success')).toBe(success);
      expect(comparable(ours)).toEqual(comparable(theirs));
    });
  }
});
