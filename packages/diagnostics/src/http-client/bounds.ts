/** Bytes of a body that are read at most, and that are decoded. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Bytes of the body of a redirect that is followed: nothing of it is in the result. */
export const MAX_REDIRECT_BODY_BYTES = 16 * 1024;
/** Headers of an answer that are kept, and the bytes of their names and values together. */
export const MAX_KEPT_HEADERS = 100;
export const MAX_KEPT_HEADER_BYTES = 8 * 1024;
