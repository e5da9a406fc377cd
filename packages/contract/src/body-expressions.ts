/** Maximum number of body expressions in one module, and their maximum length. */
export const MAX_BODY_EXPRESSIONS = 16;
export const MAX_EXPRESSION_LENGTH = 1_024;
