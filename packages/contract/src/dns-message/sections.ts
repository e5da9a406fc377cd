import { decodeEdns, type Edns } from './edns.ts';
import { MessageFormatError } from './format-error.ts';
import type { DnsRecord, Question } from './record.ts';
import type { Reader } from './reader.ts';

const TYPE_OPT = 41;
const CLASS_IN = 1;
const CLASS_ANY = 255;

/** Limit of decoded records; of later ones, except OPT, only the bounds are checked. */
const MAX_READ_RECORDS = 100;

/** Type mnemonics and data formats. */
export interface Presentation {
  /** The mnemonic of a type's code, or `TYPE<n>`. */
  readonly typeName: (typeCode: number) => string;
  /**
   * Formats the data of one record.
   *
   * @throws MessageFormatError if the data violates the format of its type or is not fully consumed
   */
  readonly data: (typeCode: number, classCode: number, data: Reader) => string;
  /** Formats data in the form of RFC 3597 section 5, whatever its type. */
  readonly unknown: (data: Reader) => string;
}

/** Decoding state shared by the sections of a message. */
export interface SectionState {
  readonly presentation: Presentation;
  read: number;
  /** Number of records not read because of the record limit. */
  omitted: number;
  edns: Edns | null;
  /** First format violation. */
  formatError: string | null;
  /** True if the bounds of the next question or record are unknown. */
  isCutOff: boolean;
}

export function newSectionState(presentation: Presentation): SectionState {
  return { presentation, read: 0, omitted: 0, edns: null, formatError: null, isCutOff: false };
}

export function readQuestions(reader: Reader, count: number, state: SectionState): Question[] {
  const questions: Question[] = [];
  readEach(count, state, () => {
    questions.push({ name: reader.name(), typeCode: reader.u16(), classCode: reader.u16() });
  });
  return questions;
}

/** Decodes the records of a section; the OPT record is stored in the state. */
export function readSection(reader: Reader, count: number, state: SectionState): DnsRecord[] {
  const records: DnsRecord[] = [];
  const { presentation } = state;
  readEach(count, state, () => {
    const name = reader.name();
    const typeCode = reader.u16();
    const classCode = reader.u16();
    const ttl = reader.u32();
    const data = reader.slice(reader.u16());
    if (typeCode === TYPE_OPT) {
      unlessMalformed(state, () => {
        // RFC 6891 section 6.1.1: at most one OPT record, owned by the root.
        if (state.edns !== null || name !== '.') throw new MessageFormatError('an OPT record is out of place');
        state.edns = decodeEdns(classCode, ttl, data);
      });
    } else if (state.read >= MAX_READ_RECORDS) {
      state.omitted++;
    } else {
      state.read++;
      const raw = data.again();
      const text = unlessMalformed(state, () => {
        // Transaction signatures have class ANY (RFC 2931 section 3, RFC 8945 section 4.2).
        if (classCode !== CLASS_IN && classCode !== CLASS_ANY)
          throw new MessageFormatError('a record is not of class IN');
        return presentation.data(typeCode, classCode, data);
      });
      records.push({ name, type: presentation.typeName(typeCode), ttl, data: text ?? presentation.unknown(raw) });
    }
  });
  return records;
}

/** Reads up to `count` items; stops at one without determinable bounds. */
function readEach(count: number, state: SectionState, next: () => void): void {
  for (let at = 0; at < count && !state.isCutOff; at++) {
    const isRead = unlessMalformed(state, () => {
      next();
      return true;
    });
    if (isRead === undefined) state.isCutOff = true;
  }
}

/** @returns undefined after a format violation, which is stored in the state */
function unlessMalformed<T>(state: SectionState, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MessageFormatError)) throw error;
    state.formatError ??= error.message;
    return undefined;
  }
}
