import { AudienceError } from "./audience-error.ts";

/** One thing that is wrong with an input. `path` leads to the field: `["identifiers", 0, "consent", "ip"]`. */
export interface ValidationIssue {
  /** Empty where it is the input itself. */
  readonly path: (string | number)[];
  /** zod's, such as `"too_big"` or `"unrecognized_keys"`. */
  readonly code: string;
  /** What is asked for, and what was found. */
  readonly message: string;
}

/** The input does not fit the service's documented rules. Nothing was sent; `issues` holds every problem at once. */
export class ValidationError extends AudienceError {
  override readonly name = "ValidationError";
  readonly code = "validation";
  /**
   * All problems: of each field in the order of the documented fields, then of the rules between them, and of keys that
   * are no field.
   */
  declare readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[]) {
    super(describeIssues(issues), "not-sent", { issues });
  }
}

const shownIssues = 10;

function describeIssues(issues: readonly ValidationIssue[]): string {
  const lines = issues.slice(0, shownIssues).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const rest = issues.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more, see \`issues\``);
  return `Not sent, ${issues.length === 1 ? "1 problem" : `${issues.length} problems`} in the input:\n  ${lines.join("\n  ")}`;
}

/** `["identifiers", 0, "id"]` as `identifiers[0].id`; the input itself as `(input)`. */
function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "(input)";
  return path.map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`)).join("");
}
