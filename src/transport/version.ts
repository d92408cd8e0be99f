/** The package's version, as `package.json` has it: a test compares the two. */
export const packageVersion = "0.1.0";
