/** Whether a path matches a pattern: `*` matches within a folder, `**` across folders. */
export function matches(path: string, pattern: string): boolean {
  const parts = pattern.split("**").map((part) => part.split("*").map(escape).join("[^/]*"));
  return new RegExp(`^${parts.join(".*")}$`).test(path);
}

function escape(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
}
