import { flagName, parseCheckArguments, type HelpFlags } from '@vantage/command-line';
import { paramsSchema, ruleErrors, textForm, type AnyCheckType, type ParamsOf } from '@vantage/contract';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';
import { evaluateTarget, type TargetPolicy } from '@vantage/target-policy';
import { Ajv } from 'ajv';

/** Flags besides those of the check type; no option may have the same name (`--trace` is an option of dns). */
export const runFlags = {
  json: { type: 'boolean', description: 'The result as the API gives it, and nothing else.' },
  verbose: {
    type: 'boolean',
    description: 'What the run asks for and what it knows so far, as it goes, on standard error.',
  },
  help: { type: 'boolean', description: 'This text.' },
} as const satisfies HelpFlags;

/** One check requested on the command line. */
export interface RunRequest {
  readonly type: CheckTypeName;
  readonly params: ParamsOf<AnyCheckType>;
  readonly isJson: boolean;
  readonly isTraced: boolean;
}

export type ReadRequest =
  | { readonly kind: 'run'; readonly request: RunRequest }
  | { readonly kind: 'help'; readonly of: CheckTypeName | undefined }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] };

/** Parses a check and validates it like a request to the coordinator. */
export function readRequest([type, ...args]: readonly string[], policy: TargetPolicy): ReadRequest {
  if (type === undefined || type === '--help' || type === 'help') return { kind: 'help', of: undefined };
  if (!isCheckTypeName(type)) {
    const known = Object.keys(checkTypes).join(', ');
    return { kind: 'invalid', faults: [`unknown check type "${type}"; expected one of ${known}`] };
  }
  const { host, fields, options, values, faults } = parseCheckArguments(type, args, runFlags);
  if (values['help'] === true) return { kind: 'help', of: type };
  if (faults.length > 0) return { kind: 'invalid', faults };
  const read = readParams(checkTypes[type], { host, ...fields, options }, policy);
  if ('faults' in read) return { kind: 'invalid', faults: read.faults };
  const request = { type, params: read.params, isJson: values['json'] === true, isTraced: values['verbose'] === true };
  return { kind: 'run', request };
}

/** Parameters with defaults, or faults. The host is canonical if the policy accepts it. */
function readParams(
  checkType: AnyCheckType,
  params: object,
  policy: TargetPolicy,
): { readonly params: ParamsOf<AnyCheckType> } | { readonly faults: readonly string[] } {
  const { hostKind, purpose } = checkType;
  const ajv = new Ajv({ useDefaults: true, validateFormats: false, allErrors: true, verbose: true });
  const isParams = ajv.compile<ParamsOf<AnyCheckType>>(paramsSchema(checkType));
  if (!isParams(params)) {
    const faults = (isParams.errors ?? []).map(({ instancePath, keyword, message, parentSchema }) => {
      const form = keyword === 'pattern' ? textForm(parentSchema?.['pattern']) : undefined;
      return `${flagOf(instancePath)} ${form === undefined ? message : `must be ${form}`}`;
    });
    return { faults };
  }
  const { port, family } = { ...params, ...params.options } as { readonly port?: number; readonly family?: 4 | 6 };
  const decision = evaluateTarget({ hostKind, purpose, host: params.host, port, family }, policy);
  if (decision.verdict === 'malformed') return { faults: [decision.message] };
  const faults = ruleErrors(checkType, params).map(({ path, message }) => `${flagOf(path)}: ${message}`);
  if (faults.length > 0) return { faults };
  // A refused target is not a usage error: the run reports it with its reason, as for a client.
  return { params: decision.verdict === 'accepted' ? { ...params, host: decision.host } : params };
}

/** `/options/count` becomes `--count`. */
function flagOf(pointer: string): string {
  const field = pointer.split('/').at(-1) ?? '';
  return field === 'host' || field === '' ? 'the host' : `--${flagName(field)}`;
}
