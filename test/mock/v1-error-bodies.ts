/** The bodies by name in which the mock can write an error of v1. */
export const v1ErrorBodies = [
  "message",
  "error",
  "error-object",
  "errors",
  "json-api",
  "status-code",
  "text",
  "empty",
] as const;
