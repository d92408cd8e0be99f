// What a request or an answer may hold, as values. A definition is data and rules: `read-field.ts` reads a value by it
// for the client, `src/zod/` makes a zod schema of it. A leaf.

/** A problem as it is found, in zod's words (`code` and what belongs to it), so that both readers speak alike. */
export interface FoundIssue {
  readonly code: string;
  readonly input?: unknown;
  /** From the value that was judged. Grows at its front on the way out. */
  path?: (string | number)[];
  /** Where it is not given, the `explain` of the field says it. */
  message?: string;
  /** Whether rules that come later still have something to judge: as zod takes it, `false` stops even those with `when`. */
  readonly continue?: boolean;
  readonly expected?: string;
  readonly origin?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly inclusive?: boolean;
  readonly format?: string;
  /** The expression that did not match, as text. */
  readonly pattern?: string;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
  /** Of the field in which it was found. */
  explain?: Explain | undefined;
}

/** A value that is being read, and what is wrong with it so far. */
export interface Payload {
  value: unknown;
  issues: FoundIssue[];
}

/** The words for a problem, by what was found. */
export type Explain = (issue: FoundIssue) => string | undefined;

/** A rule of a field. */
export interface Rule {
  /** What a JSON schema shows of it. */
  readonly shown?: JsonSchema | undefined;
  /** When to judge; without it, wherever nothing is wrong yet that stops it. */
  readonly when?: (payload: Payload) => boolean;
  readonly judge: (payload: Payload) => void;
}

/** A JSON schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

interface FieldOf<Type extends string, Value> {
  readonly type: Type;
  readonly rules?: readonly Rule[];
  /** Its own words, where they are not everybody's. */
  readonly explain?: Explain | undefined;
  /** What its JSON schema shows besides what type and rules do. */
  readonly shown?: JsonSchema;
  /** Never there: it carries the type of the values. */
  readonly value?: Value;
}

export interface TextField extends FieldOf<"string", string> {}
export interface NumberField extends FieldOf<"number", number> {}
export interface YesOrNoField extends FieldOf<"boolean", boolean> {}

/** One of some texts. */
export interface ChoiceField<Choice extends string = string> extends FieldOf<"enum", Choice> {
  readonly values: readonly Choice[];
}

/** A field whose rules alone say what it may be. */
export interface FreeField<Value = unknown> extends FieldOf<"unknown", Value> {}

/** A field that may be left out; `undefined` is left out. */
export interface OptionalField<Inner extends Field = Field> extends FieldOf<
  "optional",
  ValueOf<Inner> | undefined
> {
  readonly inner: Inner;
}

export interface ListField<Item extends Field = Field> extends FieldOf<"array", ValueOf<Item>[]> {
  readonly item: Item;
}

/** What becomes of a field that the shape does not name: refused, passed on if it is what this says, or kept unseen. */
export type Others = "refused" | "kept" | FreeField;

/** Says more of an unknown key than that it is unknown, where there is more to say. */
export type UnknownKeyHint = (key: string, value: unknown) => string | undefined;

export interface ObjectField<S extends Shape = Shape, O extends Others = Others> extends FieldOf<
  "object",
  ValueOfShape<S, O>
> {
  readonly shape: S;
  readonly others: O;
  readonly hint?: UnknownKeyHint | undefined;
}

export type Shape = Readonly<Record<string, Field>>;

export type Field =
  | TextField
  | NumberField
  | YesOrNoField
  | ChoiceField
  | FreeField
  | (FieldOf<"optional", unknown> & { readonly inner: Field })
  | (FieldOf<"array", unknown[]> & { readonly item: Field })
  | (FieldOf<"object", object> & {
      readonly shape: Shape;
      readonly others: Others;
      readonly hint?: UnknownKeyHint | undefined;
    });

/** A field that takes these values. */
export type FieldFor<Value> = Field & { readonly value?: Value };

/** The values that a field takes. */
export type ValueOf<F> = F extends { readonly value?: infer Value } ? Value : never;

type OptionalKeys<S> = { [K in keyof S]: S[K] extends { type: "optional" } ? K : never }[keyof S];

type ValueOfShape<S, O> = Flat<
  { -readonly [K in Exclude<keyof S, OptionalKeys<S>>]: ValueOf<S[K]> } & {
    -readonly [K in OptionalKeys<S>]?: ValueOf<S[K]>;
  } & (O extends "refused" ? unknown : { [other: string]: unknown })
>;

/** A type without the seams of what it was made of. */
export type Flat<T> = { [K in keyof T]: T[K] };

/** A field that may be left out. */
/*! @__NO_SIDE_EFFECTS__ */
export function optional<Inner extends Field>(inner: Inner): OptionalField<Inner> {
  return { type: "optional", inner };
}
