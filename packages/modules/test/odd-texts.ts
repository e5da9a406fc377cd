const http = (options: string): string => `modules:\n  m:\n    prober: http\n    http: {${options}}\n`;

const urls = [
  ['http://a:b/', 'http://a:/', 'http://u:p@a:1/', 'http://[::1', 'http://[::1]x/', 'http://[::1]:1/'],
  ['http://[fe80::1%25eth0]/', 'http://a b/', 'http://a|b/', 'http://%41/', 'http://ä/', 'http://a@b c@d/'],
  ['http://a/%zz', 'http://a/?x=%zz', 'http://a/#%zz', 'a:b/c', '1a:b', '///a:b', '//a:b', 'a b', '\u0001'],
].flat();

/** Files that blackbox_exporter accepts, with a character that this parser refuses. */
export const refusedTexts: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'U+FFFD in a comment', text: 'modules: {}\n# \ufffd\n' },
  { name: 'U+FFFD in a value', text: http('headers: {a: "\ufffd"}') },
  { name: 'U+0085 in a value', text: http('headers: {a: "b\u0085c"}') },
  { name: 'U+0085 as a line break', text: 'modules:\u0085  m: {prober: icmp}\n' },
  { name: 'U+2028 in a value', text: http('headers: {a: "b\u2028c"}') },
  { name: 'U+2029 as a line break', text: 'modules:\u2029  m: {prober: icmp}\n' },
];

/** Files at the bounds of YAML and of Go's types. */
export const oddTexts: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'a merge given twice', text: 'modules:\n  a: &a {prober: http}\n  b:\n    <<: *a\n    <<: *a\n' },
  { name: 'a key that is a list', text: 'modules:\n  ? [a]\n  : {prober: http}\n' },
  { name: 'a control character', text: 'modules: {}\n# \u0001\n' },
  { name: 'a deletion', text: 'modules: {}\n# \u007f\n' },
  { name: 'a control character beyond ASCII', text: 'modules: {}\n# \u009f\n' },
  { name: 'no character', text: 'modules: {}\n# \uffff\n' },
  { name: 'a byte order mark at the start', text: '\ufeffmodules: {}\n' },
  { name: 'a byte order mark in a value', text: http('headers: {a: "b\ufeffc"}') },
  { name: 'half a character', text: 'modules:\n  a: {prober: "\\ud83d"}\n' },
  { name: 'YAML 1.1', text: '%YAML 1.1\n---\nmodules: {}\n' },
  { name: 'YAML 1.2', text: '%YAML 1.2\n---\nmodules: {}\n' },
  { name: 'underscores in a number', text: http('valid_status_codes: [2_00]') },
  { name: 'a number beyond 64 bits', text: http('valid_status_codes: [99999999999999999999]') },
  { name: 'the largest number', text: http('valid_status_codes: [9223372036854775807]') },
  {
    name: 'a token and a header for a proxy',
    text: http('proxy_connect_header: {a: [b]}, oauth2: {client_id: a, client_secret: b, token_url: "http://x"}'),
  },
  ...urls.map((url) => ({ name: `the proxy ${url}`, text: http(`proxy_url: ${JSON.stringify(url)}`) })),
  { name: 'a timeout beyond 64 bits', text: 'modules:\n  m: {prober: http, timeout: 9999999999h}\n' },
];
