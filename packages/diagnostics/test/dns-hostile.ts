import type { AnswerDns, Via } from '@vantage/test-support/dns/server';
import {
  addressRecord,
  FLAGS,
  optRecord,
  respond,
  u16,
  u32,
  wireName,
  type WireQuery,
  type WireRecord,
} from '@vantage/test-support/dns/wire';

/** Parent of all names; their first label selects the behaviour. */
export const HOSTILE_ZONE = 'hostile.example.';

const { aa, tc, rd, ra } = FLAGS;
const resolves = rd | ra;

const named = (type: number, name: string, target: string): WireRecord => ({
  name,
  type,
  data: Uint8Array.from(wireName(target)),
});
const ns = (zone: string): WireRecord => named(2, zone, `ns.${zone}`);
const cname = (name: string, target: string): WireRecord => named(5, name, target);
const soa = (zone: string): WireRecord => ({
  name: zone,
  type: 6,
  data: Uint8Array.from([...wireName(`ns.${zone}`), ...wireName(`admin.${zone}`), ...[1, 2, 3, 4, 5].flatMap(u32)]),
});

/** The OPT record with an extended DNS error (option 15) that has no text. */
const extendedError = (code: number): WireRecord => optRecord([0, 15, 0, 2, ...u16(code)]);

const zone = HOSTILE_ZONE.slice(0, -1);
const evil = addressRecord('evil.example.net', '192.0.2.66');
const right = ({ name }: WireQuery): WireRecord => addressRecord(name, '192.0.2.1');
const good = (query: WireQuery): Buffer => respond(query, { flags: resolves, answers: [right(query)] });
const lie = { flags: resolves, answers: [evil] };
const question = (name: string, type = 1, classCode = 1): Uint8Array =>
  Uint8Array.from([...wireName(name), ...u16(type), ...u16(classCode)]);

/** A message whose answer section is these octets. */
function raw(query: WireQuery, octets: readonly number[], answers = 1): Buffer {
  const head = respond(query, { flags: resolves });
  head.writeUInt16BE(answers, 6);
  return Buffer.concat([head, Buffer.from(octets)]);
}

/** A record of type A; by default its owner is a pointer to the question. */
const pointed = (data: readonly number[], owner: readonly number[] = [0xc0, 12]): number[] => [
  ...owner,
  ...u16(1),
  ...u16(1),
  ...u32(300),
  ...u16(data.length),
  ...data,
];

function changed(message: Buffer, change: (message: Buffer) => void): Buffer {
  change(message);
  return message;
}

type Behaviour = (query: WireQuery, via: Via) => readonly Uint8Array[];

const one =
  (response: (query: WireQuery) => Parameters<typeof respond>[1]): Behaviour =>
  (query) => [respond(query, response(query))];

/** Behaviours of the server, by the first label of the name. */
export const hostileBehaviours = {
  answer: (query) => [good(query)],
  'answer-lame': one((query) => ({ flags: rd, answers: [right(query)] })),
  'other-case': one(({ name }) => {
    const shouted = name.toUpperCase().slice(0, -1);
    return { flags: resolves, question: question(shouted), answers: [addressRecord(shouted, '192.0.2.1')] };
  }),
  'chaos-class': one(({ name }) => ({
    flags: resolves,
    // Data of class CH begins with a name, here a pointer beyond the message: a pointer to its start would read the
    // random query id.
    answers: [{ ...addressRecord(name, '255.255.255.255'), classCode: 3 }],
  })),
  // Referrals.
  referral: one(() => ({ flags: rd, authority: [ns(zone)] })),
  'referral-top': one(() => ({ flags: rd, authority: [ns('example')] })),
  'referral-up': one(() => ({ flags: rd, authority: [named(2, '.', 'a.root-servers.net')] })),
  'referral-aside': one(() => ({ flags: rd, authority: [ns('other.example')] })),
  'referral-claimed': one(() => ({ flags: aa | rd, authority: [ns(zone)] })),
  'referral-resolver': one(() => ({ flags: resolves, authority: [ns(zone)] })),
  // Responses without records.
  nodata: one(() => ({ flags: aa | rd, authority: [soa(zone)] })),
  'nodata-ns': one(() => ({ flags: aa | rd, authority: [ns(zone), soa(zone)] })),
  'nodata-cached': one(() => ({ flags: rd, authority: [soa(zone)] })),
  'nodata-bare': one(() => ({ flags: aa | rd })),
  'nodata-stripped': one(() => ({ flags: resolves })),
  'nodata-aside': one(() => ({ flags: rd, authority: [soa('other.example')] })),
  bare: one(() => ({ flags: rd })),
  nxdomain: one(() => ({ flags: aa | rd, rcode: 3, authority: [soa(zone)] })),
  'nodata-elsewhere': one(() => ({ flags: resolves, authority: [soa('other.example')] })),
  'nodata-below': one(({ name }) => ({ flags: resolves, authority: [soa(`below.${name.slice(0, -1)}`)] })),
  'nxdomain-bare': one(() => ({ flags: rd, rcode: 3 })),
  'nxdomain-stripped': one(() => ({ flags: resolves, rcode: 3 })),
  'nxdomain-ns': one(() => ({ flags: resolves, rcode: 3, authority: [ns(zone)] })),
  'nxdomain-elsewhere': one(() => ({ flags: resolves, rcode: 3, authority: [soa('other.example')] })),
  // Responses of filtering resolvers (RFC 8914).
  'filter-nodata': one(() => ({ flags: resolves, additional: [extendedError(17)] })),
  'filter-nxdomain': one(() => ({ flags: resolves, rcode: 3, additional: [extendedError(15)] })),
  'filter-alias': one(({ name }) => ({
    flags: resolves,
    answers: [cname(name, 'web.example.net')],
    additional: [extendedError(16)],
  })),
  'filter-forged': one((query) => ({ flags: resolves, answers: [right(query)], additional: [extendedError(4)] })),
  'filter-refused': one(() => ({ flags: resolves, rcode: 5, additional: [extendedError(18)] })),
  // Aliases, loops among them.
  alias: one(({ name }) => ({ flags: resolves, answers: [cname(name, 'web.example.net')] })),
  'alias-whole': one(({ name }) => ({
    flags: resolves,
    answers: [cname(name, 'web.example.net'), addressRecord('web.example.net', '192.0.2.1')],
  })),
  'alias-nodata': one(({ name }) => ({
    flags: resolves,
    answers: [cname(name, 'web.example.net')],
    authority: [soa('example.net')],
  })),
  'alias-missing': one(({ name }) => ({
    flags: resolves,
    rcode: 3,
    answers: [cname(name, 'gone.example.net')],
    authority: [soa('example.net')],
  })),
  'alias-referral': one(({ name }) => ({
    flags: rd,
    answers: [cname(name, 'web.example.net')],
    authority: [ns('example.net')],
  })),
  'alias-self': one(({ name }) => ({ flags: resolves, answers: [cname(name, name.slice(0, -1))] })),
  'alias-circle': one(({ name }) => ({
    flags: resolves,
    answers: [cname(name, 'web.example.net'), cname('web.example.net', name.slice(0, -1))],
  })),
  'dname-endless': one(() => ({ flags: resolves, answers: [named(39, zone, `a.${zone}`)] })),
  'dname-alone': one(({ name }) => ({
    flags: resolves,
    answers: [named(39, zone, 'new.example'), addressRecord(name.replace(zone, 'new.example'), '192.0.2.1')],
  })),
  // Records with unexpected owner names.
  foreign: one(() => lie),
  'foreign-and-own': one((query) => ({ flags: resolves, answers: [evil, right(query)] })),
  'foreign-type': one(({ name }) => ({
    flags: resolves,
    answers: [{ name, type: 28, data: new Uint8Array(16) }],
  })),
  // Truncation.
  'cut-udp': (query, via) => [via === 'udp' ? respond(query, { flags: resolves | tc }) : good(query)],
  'cut-always': one(() => ({ flags: resolves | tc })),
  'cut-behind': one((query) => ({ flags: resolves | tc, answers: [right(query)] })),
  'cut-record': (query, via) => [
    via === 'udp' ? respond(query, { flags: resolves | tc, answers: [right(query)] }).subarray(0, -3) : good(query),
  ],
  // Responses with other rcodes.
  formerr: one(() => ({ flags: resolves, rcode: 1, additional: [optRecord()] })),
  servfail: one(() => ({ flags: resolves, rcode: 2 })),
  notimp: one(() => ({ flags: resolves, rcode: 4, additional: [optRecord()] })),
  refused: one(() => ({ flags: rd, rcode: 5 })),
  yxdomain: one(() => ({ flags: aa | rd, rcode: 6, answers: [named(39, zone, 'new.example')] })),
  notauth: one(() => ({ flags: rd, rcode: 9 })),
  rcode12: one(() => ({ flags: rd, rcode: 12 })),
  // A datagram that does not match the query (ID, question or QR bit), or is too short for a header, precedes the correct
  // answer.
  'wrong-id': (query) => [respond(query, { ...lie, id: query.id ^ 1 }), good(query)],
  'wrong-name': (query) => [respond(query, { ...lie, question: question('evil.example.net') }), good(query)],
  'wrong-type': (query) => [respond(query, { ...lie, question: question(query.name, 28) }), good(query)],
  'wrong-class': (query) => [respond(query, { ...lie, question: question(query.name, 1, 3) }), good(query)],
  'no-question': (query) => [respond(query, { ...lie, question: null }), good(query)],
  'a-query': (query) => [changed(respond(query, lie), (bytes) => void (bytes[2]! &= 0x7f)), good(query)],
  'empty-datagram': (query, via) => [...(via === 'udp' ? [Buffer.alloc(0)] : []), good(query)],
  'two-octets': (query, via) => [...(via === 'udp' ? [Buffer.of(query.id >> 8, query.id & 0xff)] : []), good(query)],
  // Faults of EDNS.
  'edns-none': (query) => [good(query)],
  'edns-version': one(() => ({ flags: resolves, additional: [optRecord([], 0x01_01_00_00)] })),
  'edns-formerr': (query) => [query.rest.length > 0 ? respond(query, { flags: resolves, rcode: 1 }) : good(query)],
  'edns-notimp': (query) => [query.rest.length > 0 ? respond(query, { flags: resolves, rcode: 4 }) : good(query)],
  'edns-twice': one((query) => ({
    flags: resolves,
    answers: [right(query)],
    additional: [optRecord(), optRecord()],
  })),
  'edns-option-cut': one((query) => ({
    flags: resolves,
    answers: [right(query)],
    additional: [optRecord([0, 3, 0, 9, 1])],
  })),
  // Messages that are malformed, or too large.
  oversize: (query, via) => {
    const answers = Array.from({ length: via === 'udp' ? 200 : 1 }, () => right(query));
    return [respond(query, { flags: resolves, answers })];
  },
  'pointer-self': (query) => [raw(query, pointed([192, 0, 2, 1], [0xc0, 12 + query.question.length]))],
  'pointer-forwards': (query) => [raw(query, pointed([192, 0, 2, 1], [0xc0, 0xff]))],
  'label-reserved': (query) => [raw(query, pointed([192, 0, 2, 1], [0x80, 1, 0]))],
  'data-short': (query) => [raw(query, [...pointed([192, 0, 2]), ...pointed([192, 0, 2, 1])], 2)],
  'data-long': (query) => [raw(query, pointed([192, 0, 2, 1, 192, 0, 2, 1]))],
  'data-cut': (query) => [raw(query, pointed([192, 0, 2, 1]).slice(0, -2))],
  'count-high': (query) => [raw(query, pointed([192, 0, 2, 1]), 2)],
  'count-low': (query) => [raw(query, [...pointed([192, 0, 2, 1]), ...pointed([192, 0, 2, 2])], 1)],
  trailing: (query) => [Buffer.concat([good(query), Buffer.alloc(8)])],
  'malformed-authority': (query) => [
    respond(query, {
      flags: resolves,
      answers: [right(query)],
      authority: [{ name: zone, type: 2, data: Uint8Array.of(9, 0x61) }],
    }),
  ],
} satisfies Readonly<Record<string, Behaviour>>;

/** Answers according to the first label of the name. */
export const answerHostile: AnswerDns = (query, via) => {
  const behaviours: Readonly<Record<string, Behaviour>> = hostileBehaviours;
  return behaviours[query.name.split('.')[0]!]?.(query, via) ?? [respond(query, { rcode: 5 })];
};
