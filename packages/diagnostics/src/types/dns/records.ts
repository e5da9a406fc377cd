import type { DnsRecord, Message } from '@vantage/contract/dns-message';
import { escapeText } from '@vantage/contract';

/** Limit of the records in a result. */
const MAX_RECORDS = 50;
/** Limit of the data of one record, characters. */
const MAX_DATA_LENGTH = 4 * 1024;
/** Limit of the names and data of all records together, characters of JSON. */
const MAX_TOTAL_LENGTH = 16 * 1024;

export interface ReportedSections {
  readonly answers: DnsRecord[];
  readonly authority: DnsRecord[];
  readonly additional: DnsRecord[];
  readonly truncated: boolean;
}

/** Remaining limit; shared by the messages of a check. */
export interface RecordBudget {
  records: number;
  length: number;
}

export function newRecordBudget(): RecordBudget {
  return { records: MAX_RECORDS, length: MAX_TOTAL_LENGTH };
}

/** The sections of a message for a result, answers first. Uses up the budget. */
export function reportSections(message: Message, budget: RecordBudget): ReportedSections {
  const [answers, authority, additional] = [message.answers, message.authority, message.additional].map((records) =>
    reportRecords(records, budget),
  ) as [ReportedRecords, ReportedRecords, ReportedRecords];
  return {
    answers: answers.records,
    authority: authority.records,
    additional: additional.records,
    truncated: message.omitted > 0 || answers.truncated || authority.truncated || additional.truncated,
  };
}

export interface ReportedRecords {
  readonly records: DnsRecord[];
  readonly truncated: boolean;
}

/** Returns as many records as the budget allows, each truncated to its limit, and reduces the budget. */
export function reportRecords(records: readonly DnsRecord[], budget: RecordBudget): ReportedRecords {
  const shown: DnsRecord[] = [];
  let truncated = false;
  for (const record of records) {
    const data = escapeText(record.data, MAX_DATA_LENGTH);
    // A name has at most 255 octets, each at most four characters in presentation format.
    const name = escapeText(record.name, 1024);
    // Size in the JSON of the result, in which quotes and backslashes take two characters.
    const length = JSON.stringify([name, data]).length;
    const fits = budget.records > 0 && length <= budget.length;
    if (!fits || data !== record.data) truncated = true;
    if (!fits) continue;
    budget.records--;
    budget.length -= length;
    shown.push({ ...record, name, data });
  }
  return { records: shown, truncated };
}
