/** One response of an HTTP/1.1 server, byte for byte. */
export interface RawAnswer {
  readonly name: string;
  /** One character per byte. */
  readonly bytes: string;
  readonly method?: 'HEAD';
  /** True if the server leaves the connection open after its answer; otherwise it closes it. */
  readonly staysOpen?: true;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const TEXT = 'Content-Type: text/plain\r\n';
const TWO = `${TEXT}Content-Length: 2\r\n`;
const CHUNKED = `${OK}${TEXT}Transfer-Encoding: chunked\r\n\r\n`;

/** A response of two bytes with one more header line. */
function line(name: string, text: string): RawAnswer {
  return { name, bytes: `${OK}${text}\r\n${TWO}\r\nok`, staysOpen: true };
}

/** An answer of two bytes with this status line. */
function status(name: string, text: string): RawAnswer {
  return { name, bytes: `${text}\r\n${TWO}\r\nok`, staysOpen: true };
}

function answer(name: string, bytes: string, more: Pick<RawAnswer, 'method' | 'staysOpen'> = {}): RawAnswer {
  return { name, bytes, ...more };
}

const open = { staysOpen: true } as const;

/** Responses, valid and invalid. The names are those of the table in `http-corpus-verdicts.ts`. */
export const rawAnswers: readonly RawAnswer[] = [
  answer('plain', `${OK}${TWO}\r\nok`, open),
  answer('until close', `${OK}${TEXT}\r\nok`),
  answer('no header', `${OK}\r\nok`),
  answer('shorter than its length', `${OK}${TEXT}Content-Length: 9\r\n\r\nok`),
  answer('bytes after Content-Length', `${OK}${TWO}\r\nokEXTRA`),
  answer('bytes after Content-Length, open', `${OK}${TWO}\r\nokEXTRA`, open),
  answer('second answer', `${OK}${TWO}\r\nok${OK}${TWO}\r\nok`),
  answer('204 with body', `HTTP/1.1 204 No Content\r\n${TWO}\r\nok`),
  answer('304 with body', `HTTP/1.1 304 Not Modified\r\n${TWO}\r\nok`),
  answer('HEAD with body', `${OK}${TWO}\r\nok`, { method: 'HEAD' }),
  line('obs-fold', 'X-A: a\r\n b'),
  line('obs-fold with tab', 'X-A: a\r\n\tb'),
  answer('obs-fold in first line', `${OK} X-A: b\r\n${TWO}\r\nok`, open),
  answer('LF only', `${OK}${TWO}\r\n`.replaceAll('\r', '') + 'ok', open),
  answer('LF mixed', `HTTP/1.1 200 OK\nX-A: b\r\n${TWO.replaceAll('\r', '')}\r\nok`, open),
  answer('LF, then CR LF', `${OK}${TWO.replaceAll('\r', '')}\r\nok`, open),
  answer('chunked', `${CHUNKED}2\r\nok\r\n0\r\n\r\n`, open),
  answer('chunk size with space', `${CHUNKED}2 \r\nok\r\n0\r\n\r\n`, open),
  answer('chunk size after space', `${CHUNKED} 2\r\nok\r\n0\r\n\r\n`, open),
  answer('chunk with LF', `${CHUNKED}2\nok\n0\n\n`, open),
  answer('chunk extension', `${CHUNKED}2;a=b\r\nok\r\n0\r\n\r\n`, open),
  answer('chunk size 0x2', `${CHUNKED}0x2\r\nok\r\n0\r\n\r\n`),
  answer('chunk size -2', `${CHUNKED}-2\r\nok\r\n0\r\n\r\n`),
  answer('chunk size empty', `${CHUNKED}\r\nok\r\n0\r\n\r\n`),
  answer('chunk size of 17 digits', `${CHUNKED}fffffffffffffffff\r\nok\r\n0\r\n\r\n`),
  answer('chunk longer than its size', `${CHUNKED}1\r\nok\r\n0\r\n\r\n`),
  answer('chunks without an end', `${CHUNKED}2\r\nok\r\n`),
  answer('last chunk without empty line', `${CHUNKED}2\r\nok\r\n0\r\n`),
  answer('bytes after last chunk', `${CHUNKED}2\r\nok\r\n0\r\n\r\nEXTRA`),
  answer('trailers', `${CHUNKED}2\r\nok\r\n0\r\nX-T: a\r\n\r\n`, open),
  answer('trailer without colon', `${CHUNKED}2\r\nok\r\n0\r\ngarbage\r\n\r\n`, open),
  line('Content-Length twice', 'Content-Length: 2'),
  line('Content-Length twice, other', 'Content-Length: 3'),
  answer('Content-Length list', `${OK}${TEXT}Content-Length: 2, 2\r\n\r\nok`, open),
  answer('Content-Length list, other', `${OK}${TEXT}Content-Length: 2, 3\r\n\r\nok`, open),
  answer('Content-Length -1', `${OK}${TEXT}Content-Length: -1\r\n\r\nok`),
  answer('Content-Length list, one no number', `${OK}${TEXT}Content-Length: 2, x\r\n\r\nok`),
  answer('Content-Length +2', `${OK}${TEXT}Content-Length: +2\r\n\r\nok`),
  answer('Content-Length word', `${OK}${TEXT}Content-Length: two\r\n\r\nok`),
  answer('Content-Length empty', `${OK}${TEXT}Content-Length:\r\n\r\nok`),
  answer('Content-Length 2 bytes', `${OK}${TEXT}Content-Length: 2 bytes\r\n\r\nok`),
  answer('Content-Length of 25 digits', `${OK}${TEXT}Content-Length: ${'9'.repeat(25)}\r\n\r\nok`),
  answer('Content-Length and chunked', `${OK}${TWO}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, open),
  answer('Transfer-Encoding identity', `${OK}${TWO}Transfer-Encoding: identity\r\n\r\nok`),
  answer('Transfer-Encoding unknown', `${OK}${TEXT}Transfer-Encoding: foo\r\n\r\nok`),
  answer('Transfer-Encoding xchunked', `${OK}${TEXT}Transfer-Encoding: xchunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
  answer(
    'chunked twice',
    `${OK}${TEXT}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  ),
  answer('chunked, identity', `${OK}${TEXT}Transfer-Encoding: chunked, identity\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
  answer('chunked by HTTP/1.0', `HTTP/1.0 200 OK\r\n${TEXT}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
  line('space before colon', 'X-A : b'),
  line('space in name', 'X A: b'),
  line('bad name', 'X(A): b'),
  line('control character', 'X-A: a\u0001b'),
  line('NUL', 'X-A: a\0b'),
  line('bare CR', 'X-A: a\rb'),
  line('CR CR LF', 'X-A: a\r'),
  line('no name', ': x'),
  line('no colon', 'garbage'),
  line('bytes above ASCII', 'X-A: caf\u00e9'),
  line('name above ASCII', 'X-caf\u00e9: a'),
  status('lower-case http', 'http/1.1 200 OK'),
  status('no reason', 'HTTP/1.1 200'),
  status('no reason, space', 'HTTP/1.1 200 '),
  status('two spaces', 'HTTP/1.1  200 OK'),
  status('tab', 'HTTP/1.1\t200\tOK'),
  status('space first', ' HTTP/1.1 200 OK'),
  status('HTTP/1.2', 'HTTP/1.2 200 OK'),
  status('HTTP/2', 'HTTP/2 200 OK'),
  status('HTTP/2.0', 'HTTP/2.0 200 OK'),
  status('HTTP/1', 'HTTP/1 200 OK'),
  status('HTTP/1.10', 'HTTP/1.10 200 OK'),
  status('HTTP without version', 'HTTP 200 OK'),
  answer('ICY', `ICY 200 OK\r\n${TWO}\r\nok`),
  status('another protocol', 'SSH-2.0-OpenSSH_9.2'),
  status('no status', 'HTTP/1.1 OK'),
  status('status of two digits', 'HTTP/1.1 20 OK'),
  status('status of four digits', 'HTTP/1.1 2000 OK'),
  status('status 099', 'HTTP/1.1 099 Low'),
  status('status 600', 'HTTP/1.1 600 High'),
  status('status 999', 'HTTP/1.1 999 High'),
  status('control character in reason', 'HTTP/1.1 200 O\u0001K'),
  answer('empty lines first', `\r\n\r\n${OK}${TWO}\r\nok`, open),
  answer('garbage first', `xx${OK}${TWO}\r\nok`, open),
  answer('no head', 'ok'),
  answer('head without an end', `${OK}${TEXT}`),
  answer('line without an end', `${OK}${TEXT}X-A: b`),
  line('head of 17 KiB', `X-A: ${'a'.repeat(17 * 1024)}`),
  line('head of 120 KiB', `X-A: ${'a'.repeat(120 * 1024)}`),
  line('head of 120 KiB in lines', Array.from({ length: 120 }, (_, at) => `X-${at}: ${'a'.repeat(1015)}`).join('\r\n')),
  line('head of 240 KiB in lines', Array.from({ length: 240 }, (_, at) => `X-${at}: ${'a'.repeat(1015)}`).join('\r\n')),
  line('head of 300 KiB in lines', Array.from({ length: 300 }, (_, at) => `X-${at}: ${'a'.repeat(1015)}`).join('\r\n')),
  line('3,000 headers', Array.from({ length: 3_000 }, (_, at) => `X-${at}: a`).join('\r\n')),
  answer('100, then 200', `HTTP/1.1 100 Continue\r\n\r\n${OK}${TWO}\r\nok`, open),
  answer('100 with body length', `HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\n${OK}${TWO}\r\nok`, open),
  answer('199, then 200', `HTTP/1.1 199 Odd\r\n\r\n${OK}${TWO}\r\nok`, open),
  answer('101 without Upgrade', `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}${TWO}\r\nok`),
  answer('101 with Upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  answer('205 with body', `HTTP/1.1 205 Reset Content\r\n${TWO}\r\nok`, open),
  line('Location twice', 'Location: /a\r\nLocation: /a'),
  line('Location twice, other', 'Location: /a\r\nLocation: /b'),
  line('Content-Disposition twice', 'Content-Disposition: inline\r\nContent-Disposition: inline'),
  line(
    'Content-Disposition twice, other',
    'Content-Disposition: inline\r\nContent-Disposition: inline; filename="a.txt"',
  ),
  answer('HTTP/1.0', `HTTP/1.0 200 OK\r\n${TWO}\r\nok`, open),
];
