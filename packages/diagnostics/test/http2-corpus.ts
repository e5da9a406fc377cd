import { encodeHpack } from '../src/http-client/http2/hpack.ts';
import { flags, frameTypes, writeFrame } from '../src/http-client/http2/frames.ts';

/** One response of an HTTP/2 server, frame by frame. */
export interface FrameAnswer {
  readonly name: string;
  readonly bytes: Buffer;
  /** True if the server closes the connection after its answer. */
  readonly closes?: true;
}

type Field = readonly [name: string, value: string];

const SETTINGS = writeFrame(frameTypes.settings, 0, 0, Buffer.alloc(0));
const STATUS: Field = [':status', '200'];
const TEXT: Field = ['content-type', 'text/plain'];

function headers(fields: readonly Field[], set = 0): Buffer {
  return writeFrame(frameTypes.headers, flags.endHeaders | set, 1, encodeHpack(fields));
}

function data(text: string, set: number = flags.endStream): Buffer {
  return writeFrame(frameTypes.data, set, 1, Buffer.from(text, 'latin1'));
}

/** A head in as many frames as necessary. */
function largeHead(bytes: number): Buffer {
  const fields = Array.from({ length: bytes / 1024 }, (_, at): Field => [`x-${at}`, 'a'.repeat(1000)]);
  const block = encodeHpack([STATUS, TEXT, ...fields]);
  const parts = Array.from({ length: Math.ceil(block.length / 16_384) }, (_, at) =>
    block.subarray(at * 16_384, (at + 1) * 16_384),
  );
  const frames = parts.map((part, at) =>
    writeFrame(
      at === 0 ? frameTypes.headers : frameTypes.continuation,
      at === parts.length - 1 ? flags.endHeaders : 0,
      1,
      part,
    ),
  );
  return Buffer.concat(frames);
}

function code(frame: 'rstStream' | 'goaway', error: number, lastStream = 0, debug = ''): Buffer {
  const payload = Buffer.alloc(frame === 'goaway' ? 8 : 4);
  if (frame === 'goaway') payload.writeUInt32BE(lastStream);
  payload.writeUInt32BE(error, payload.length - 4);
  return writeFrame(frameTypes[frame], 0, frame === 'goaway' ? 0 : 1, Buffer.concat([payload, Buffer.from(debug)]));
}

function frames(name: string, ...parts: readonly Buffer[]): FrameAnswer {
  return { name, bytes: Buffer.concat([SETTINGS, ...parts]) };
}

/** A complete response of two bytes, with these fields in addition to those of every response. */
function fields(name: string, ...more: readonly Field[]): FrameAnswer {
  return frames(name, headers([STATUS, TEXT, ...more]), data('ok'));
}

const HEAD = headers([STATUS, TEXT]);
const ALTSVC = writeFrame(10, 0, 0, Buffer.concat([Buffer.from([0, 0]), Buffer.from('h3=":443"')]));

/** HTTP/2 responses. The names are those of the table in `http2-corpus-verdicts.ts`. */
export const frameAnswers: readonly FrameAnswer[] = [
  frames('plain', HEAD, data('ok')),
  frames('no body', headers([STATUS, TEXT], flags.endStream)),
  frames(
    'padding',
    HEAD,
    writeFrame(frameTypes.data, flags.endStream | flags.padded, 1, Buffer.from([3, 111, 107, 0, 0, 0])),
  ),
  frames('trailers', HEAD, data('ok', 0), headers([['x-t', 'a']], flags.endStream)),
  frames('trailers with a pseudo-header', HEAD, data('ok', 0), headers([STATUS], flags.endStream)),
  frames(
    'an early hint',
    headers([
      [':status', '103'],
      ['link', '</a>'],
    ]),
    HEAD,
    data('ok'),
  ),
  frames('status 101', headers([[':status', '101']]), HEAD, data('ok')),
  frames('an unknown frame', writeFrame(0xbb, 0, 0, Buffer.from('x')), HEAD, data('ok')),
  frames('ALTSVC with an empty origin', ALTSVC, HEAD, data('ok')),
  frames('PING', writeFrame(frameTypes.ping, 0, 0, Buffer.alloc(8)), HEAD, data('ok')),
  frames('GOAWAY without an error, then the answer', code('goaway', 0, 1), HEAD, data('ok')),
  frames('RST_STREAM NO_ERROR after the answer', HEAD, data('ok'), code('rstStream', 0)),
  frames('RST_STREAM NO_ERROR in the body', HEAD, data('ok', 0), code('rstStream', 0)),
  frames('RST_STREAM CANCEL in the body', HEAD, data('ok', 0), code('rstStream', 8)),
  ...[
    ['NO_ERROR', 0],
    ['PROTOCOL_ERROR', 1],
    ['INTERNAL_ERROR', 2],
    ['CANCEL', 8],
    ['ENHANCE_YOUR_CALM', 11],
  ].map(([name, error]) => frames(`RST_STREAM ${name}`, code('rstStream', error as number))),
  { ...frames('GOAWAY ENHANCE_YOUR_CALM', code('goaway', 11, 0, 'too_many_pings')), closes: true },
  { ...frames('GOAWAY INTERNAL_ERROR in the body', HEAD, data('ok', 0), code('goaway', 2, 1)), closes: true },
  { ...frames('an end in the body', HEAD, data('ok', 0)), closes: true },
  { ...frames('an end before the head'), closes: true },
  fields('CR LF in a value', ['x-a', 'a\r\nb']),
  fields('NUL in a value', ['x-a', 'a\0b']),
  fields('control character in a value', ['x-a', 'a\u0001b']),
  fields('space before a value', ['x-a', ' a']),
  fields('space in a name', ['x a', 'b']),
  fields('no name', ['', 'b']),
  fields('upper-case name', ['X-A', 'b']),
  fields('name above ASCII', ['x-caf\u00e9', 'b']),
  fields('connection', ['connection', 'close']),
  fields('keep-alive', ['keep-alive', 'timeout=5']),
  fields('transfer-encoding', ['transfer-encoding', 'chunked']),
  fields('two statuses', [':status', '200']),
  frames('no status', headers([TEXT]), data('ok')),
  frames('status of two digits', headers([[':status', '20'], TEXT]), data('ok')),
  frames('status after a header', headers([TEXT, STATUS]), data('ok')),
  frames('a pseudo-header of requests', headers([STATUS, [':path', '/'], TEXT]), data('ok')),
  fields('content-length', ['content-length', '2']),
  fields('content-length too small', ['content-length', '1']),
  fields('content-length too large', ['content-length', '9']),
  fields('content-length twice', ['content-length', '2'], ['content-length', '2']),
  fields('content-length word', ['content-length', 'two']),
  frames('204 with a body', headers([[':status', '204']]), data('ok')),
  frames('DATA before the head', data('ok', 0), HEAD, data('ok')),
  frames('WINDOW_UPDATE of nothing', writeFrame(frameTypes.windowUpdate, 0, 0, Buffer.alloc(4)), HEAD, data('ok')),
  frames(
    'PUSH_PROMISE',
    writeFrame(
      frameTypes.pushPromise,
      flags.endHeaders,
      1,
      Buffer.concat([
        Buffer.from([0, 0, 0, 2]),
        encodeHpack([
          [':method', 'GET'],
          [':scheme', 'https'],
          [':authority', 'a.test'],
          [':path', '/'],
        ]),
      ]),
    ),
    HEAD,
    data('ok'),
  ),
  frames('no HPACK', writeFrame(frameTypes.headers, flags.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff])), data('ok')),
  frames('head of 17 KiB', largeHead(17 * 1024), data('ok')),
  frames('head of 200 KiB', largeHead(200 * 1024), data('ok')),
  frames('head of 300 KiB', largeHead(300 * 1024), data('ok')),
  { name: 'no SETTINGS', bytes: Buffer.concat([HEAD, data('ok')]) },
  { name: 'HTTP/1.1', bytes: Buffer.from('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'), closes: true },
  fields('location twice, other', ['location', '/a'], ['location', '/b']),
  fields(
    'content-disposition twice, other',
    ['content-disposition', 'inline'],
    ['content-disposition', 'inline; filename="a.txt"'],
  ),
];
