import { isJson, type Reply } from "./answer.ts";
import type { Answers } from "./ask.ts";
import { keysOf } from "./shape.ts";
import type { Written } from "./write.ts";

/** What the account shows of a variant: its value, the code of a function, or nothing and why. */
export type Finding<Value = unknown> =
  | { readonly value: Value; readonly note?: string | undefined }
  | { readonly code: string }
  | { readonly unknown: string };

/** All replies; `written` is missing without `--write`. */
export interface Shown extends Answers {
  readonly written?: Written | undefined;
}

/** Why a reply shows nothing. */
export function reasonOf(reply: Reply): string {
  if (typeof reply === "string") return reply;
  if (isJson(reply)) return `unusual: ${keysOf(reply.body)}`;
  return reply.message ?? `${String(reply.status)} without a JSON object`;
}
