interface AnswerRecord {
  readonly name: string;
  readonly type: string;
  readonly data: string;
}

interface Answered<Answer extends AnswerRecord> {
  readonly queryName?: string | undefined;
  readonly canonicalName?: string | null | undefined;
  readonly answers?: readonly Answer[] | undefined;
}

/**
 * The records of an answer section that are of the requested name, or of a name that its aliases lead to: other
 * records, which a server may add, do not answer the question. All records if the agent does not report the requested
 * name.
 */
export function answeringRecords<Answer extends AnswerRecord>(result: Answered<Answer>): readonly Answer[] {
  const { queryName, canonicalName, answers = [] } = result;
  if (queryName === undefined) return answers;
  const names = [queryName.toLowerCase(), ...(typeof canonicalName === 'string' ? [canonicalName.toLowerCase()] : [])];
  // The names that aliases lead to are appended while the loop runs.
  for (const name of names) {
    for (const { name: owner, type, data } of answers) {
      const target = data.toLowerCase();
      if (type === 'CNAME' && owner.toLowerCase() === name && !names.includes(target)) names.push(target);
    }
  }
  return answers.filter(({ name, type }) => {
    const owner = name.toLowerCase();
    return names.includes(owner) || (type === 'DNAME' && names.some((below) => isBelow(below, owner)));
  });
}

function isBelow(name: string, owner: string): boolean {
  return owner === '.' || name.endsWith(`.${owner}`);
}
