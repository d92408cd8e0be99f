/** The list that every client reads: the server and the reader agree on it. */
export const pages = 10;
export const pageSize = 100;
