/** Expressions about the body in one module, and the length of one. */
export const MAX_BODY_EXPRESSIONS = 16;
export const MAX_EXPRESSION_LENGTH = 1_024;
