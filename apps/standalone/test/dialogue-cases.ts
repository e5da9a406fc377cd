import type { DialogueTargets } from './dialogue-targets.ts';

/** Modules with `tls` or `query_response`, as Vantage and blackbox_exporter both read them. */
export function dialogueModules({ ownCaFile }: Pick<DialogueTargets, 'ownCaFile'>): string {
  const tcp = (name: string, options: string, timeout = '10s'): string =>
    `  ${name}: {prober: tcp, timeout: ${timeout}, tcp: {${options}}}\n`;
  const smtp = (between: string): string =>
    `query_response: [{expect: "^220 "}, {send: "EHLO prober\\r"}, {expect: "^250-STARTTLS"}, {send: "STARTTLS\\r"}, ${between}, {send: "EHLO prober\\r"}, {expect: "^250 "}, {send: "QUIT\\r"}]`;
  const tls = '{expect: "^220"}, {starttls: true}';
  return [
    tcp('tls', 'tls: true'),
    tcp('tls_insecure', 'tls: true, tls_config: {insecure_skip_verify: true}'),
    tcp('tls_name', 'tls: true, tls_config: {server_name: www.target.example}'),
    tcp('tls_other_name', 'tls: true, tls_config: {server_name: www.example.org}'),
    tcp('tls_own', `tls: true, tls_config: {ca_file: ${ownCaFile}}`),
    tcp('tls_12', 'tls: true, tls_config: {max_version: TLS12}'),
    tcp('tls_old', 'tls: true, tls_config: {min_version: TLS10}'),
    tcp('pop3s', 'tls: true, query_response: [{expect: "^[+]OK"}]'),
    tcp('pop3', 'query_response: [{expect: "^[+]OK .*<(?P<stamp>[^>]+)>", send: "${1}$stamp$1x"}, {expect: "^-ERR"}]'),
    tcp('smtp', 'query_response: [{expect: "^220 "}, {send: "QUIT\\r"}, {expect: ^221}]'),
    tcp('smtp_starttls', smtp(tls)),
    tcp('smtp_starttls_insecure', `${smtp(tls)}, tls_config: {insecure_skip_verify: true}`),
    tcp('smtp_starttls_other', `${smtp(tls)}, tls_config: {server_name: www.example.org}`),
    tcp('smtp_starttls_in_one', smtp('{expect: "^220", starttls: true}')),
    tcp(
      'imap_starttls',
      'query_response: [{expect: "OK.*STARTTLS", send: ". STARTTLS"}, {expect: "OK"}, {starttls: true}, {send: ". CAPABILITY"}, {expect: "CAPABILITY IMAP4rev1.*AUTH"}]',
    ),
    tcp(
      'irc',
      'query_response: [{send: "NICK prober"}, {expect: "PING :([^ ]+)", send: "PONG ${1}-:$1$$"}, {expect: "^:[^ ]+ 001"}]',
    ),
    tcp(
      'ftp_starttls',
      'query_response: [{expect: "^220"}, {send: "AUTH TLS\\r"}, {expect: ^234, starttls: true}, {send: "QUIT\\r"}, {expect: ^221}]',
    ),
    tcp('any', 'query_response: [{expect: ""}, {expect: ""}]'),
    tcp('binary', 'query_response: [{expect: "^a.b$"}, {expect: "^$"}]'),
    tcp('send', 'query_response: [{send: "hello"}]'),
    tcp('greeting', 'query_response: [{expect: "^220"}]'),
    tcp('silence', 'query_response: [{expect: "^220"}]', '1s'),
  ].join('');
}

type Target = keyof DialogueTargets['at'];

export const dialogueCases: readonly (readonly [what: string, module: string, target: Target, success: 0 | 1])[] = [
  ['TLS', 'tls', 'pop3s', 1],
  ['TLS of an authority that is not trusted', 'tls', 'ownTls', 0],
  ['TLS without verification', 'tls_insecure', 'ownTls', 1],
  ['TLS of the authority of the module', 'tls_own', 'ownTls', 1],
  ['TLS of another authority than that of the module', 'tls_own', 'pop3s', 0],
  ['TLS by another name', 'tls_name', 'pop3s', 1],
  ['TLS by a name that is not in the certificate', 'tls_other_name', 'pop3s', 0],
  ['TLS 1.2', 'tls_12', 'pop3s', 1],
  ['TLS 1.1 if 1.2 is the lowest', 'tls', 'oldTls', 0],
  ['TLS 1.1 if it is allowed', 'tls_old', 'oldTls', 1],
  ['TLS with a server that speaks none', 'tls', 'pop3', 0],
  ['a line over TLS', 'pop3s', 'pop3s', 1],
  ['groups of a line', 'pop3', 'pop3', 1],
  ['a dialogue', 'smtp', 'smtp', 1],
  ['STARTTLS of SMTP', 'smtp_starttls', 'smtp', 1],
  ['STARTTLS without verification', 'smtp_starttls_insecure', 'smtp', 1],
  ['STARTTLS by a name that is not in the certificate', 'smtp_starttls_other', 'smtp', 0],
  ['STARTTLS in the entry of its answer', 'smtp_starttls_in_one', 'smtp', 1],
  ['STARTTLS of IMAP', 'imap_starttls', 'imap', 1],
  ['a server that refuses STARTTLS', 'smtp_starttls_in_one', 'refusing', 0],
  ['a server that begins no TLS', 'smtp_starttls_in_one', 'garbage', 0],
  ['STARTTLS of vsftpd', 'ftp_starttls', 'vsftpd', 1],
  ['STARTTLS of aiosmtpd', 'smtp_starttls', 'aiosmtpd', 1],
  ['aiosmtpd by a name that is not in the certificate', 'smtp_starttls_other', 'aiosmtpd', 0],
  ['an answer with a group, a dollar and a line end without CR', 'irc', 'irc', 1],
  ['bytes that are no UTF-8, and an empty line', 'binary', 'binary', 1],
  ['any line', 'any', 'binary', 1],
  ['a line to send and none to expect', 'send', 'silent', 1],
  ['a last line without an end that does not match', 'greeting', 'busy', 0],
  ['a server that says nothing', 'silence', 'silent', 0],
  ['a line without an end', 'greeting', 'endless', 0],
];
