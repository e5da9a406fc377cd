/** Maximum number of body expressions of a module. */
export const MAX_BODY_EXPRESSIONS = 16;
/** Maximum length of a body expression, in characters. */
export const MAX_EXPRESSION_LENGTH = 1_024;
