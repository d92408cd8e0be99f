import * as z from "zod";
import type { DecodedPage } from "../pagination/has-next-page.ts";
import { plainName } from "../schema/issues.ts";
import { isRecord } from "../schema/kind-of.ts";
import { errorMessage, ignoreRejection } from "../schema/option.ts";
import {
  type JsonObject,
  UndecodableResponse,
  describeKeys,
  describeShape,
  parseResponse,
} from "../schema/response.ts";
import { parsePageInfo, rootsOf } from "./page-info.ts";

/** The result of `parsePage`. Totals and `hasNextPage` are optional. */
export interface ParsedPage {
  /** The items, unchanged: resources, envelopes or flat objects. */
  readonly items: readonly unknown[];
  /** The number of pages of this size. */
  readonly totalPages?: number | null | undefined;
  /** The number of items of the whole list. */
  readonly totalItems?: number | null | undefined;
  /** Default: the totals decide; without totals, a page shorter than its limit is the last. */
  readonly hasNextPage?: boolean | null | undefined;
}

/**
 * Finds the items of a v1 list response, whose shape is not documented ("Endpoints"). It replaces the client's own
 * search, for each page. Each item needs an id at a usual place.
 *
 * If it throws, or returns an invalid value, the call rejects with an `UnexpectedResponseError`.
 *
 * ```ts
 * new AudienceClient({ …, parsePage: (body) => ({ items: body.result.people, totalItems: body.result.size }) });
 * ```
 */
export type ParsePage = (body: unknown, context: { operation: string }) => ParsedPage;

const count = z.int().min(0).nullish();

const parsedPageSchema = z.object({
  items: z.array(z.unknown()),
  totalPages: count,
  totalItems: count,
  hasNextPage: z.boolean().nullish(),
}) satisfies z.ZodType<ParsedPage>;

export interface PageDecoder<T> {
  readonly operation: string;
  /** Decodes an item for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  readonly parsePage?: ParsePage | undefined;
}

/** Decodes a v1 list response of any usual shape. Throws `UndecodableResponse` if items or an id are missing. */
export function parseV1Page<T>(
  body: unknown,
  { operation, decodeItem, parsePage }: PageDecoder<T>,
): DecodedPage<T> {
  const { items, ...info } = parsePage
    ? callParsePage(parsePage, body, operation)
    : findPage(body, operation);
  const decoded = items.map((item, at) => {
    const value = decodeItem(item);
    if (value !== undefined) return value;
    throw new UndecodableResponse(
      `item ${at} of its list has no id: it is ${describeShape(item)}. ${parsePageHint}`,
    );
  });
  return { items: decoded, ...info, raw: body };
}

type FoundPage = Omit<DecodedPage<unknown>, "raw">;

function callParsePage(parsePage: ParsePage, body: unknown, operation: string): FoundPage {
  const subject = "the client's parsePage";
  let parsed: unknown;
  try {
    parsed = parsePage(body, { operation });
  } catch (error) {
    throw new UndecodableResponse(
      `${subject} threw ${errorMessage(error)}; the body is ${describeShape(body)}.`,
    );
  }
  ignoreRejection(parsed);
  if (parsed instanceof Promise)
    throw new UndecodableResponse(`${subject} returned a Promise: it must return its result at once.`);
  const problem = `${subject} returned another value than { items, totalItems?, totalPages?, hasNextPage? }`;
  const { items, totalPages, totalItems, hasNextPage } = parseResponse(parsedPageSchema, parsed, problem);
  return {
    items,
    totalPages: totalPages ?? undefined,
    totalItems: totalItems ?? undefined,
    hasNextPage: hasNextPage ?? undefined,
  };
}

function findPage(body: unknown, operation: string): FoundPage {
  const items = findItems(body, operation);
  if (items.length === 0 && reportsFailure(body)) {
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
  }
  return { items, ...parsePageInfo(body, items.length) };
}

/**
 * Finds the items of a v1 list. Their place is not documented ("Endpoints": response body shape): the body itself,
 * `data`, or one key of `data`, of the body, or of `result`. A name of the resource goes before a general name, and that before any
 * other array of objects.
 */
function findItems(body: unknown, operation: string): readonly unknown[] {
  if (Array.isArray(body)) return body;
  if (!isRecord(body)) throw unknownShape(body);
  if (Array.isArray(body["data"])) return body["data"];
  const holders = rootsOf(body);
  const resourceNames = operation === "v1.contactGroups.list" ? contactGroupNames : customerNames;
  const preferences: ((name: string, array: readonly unknown[]) => boolean)[] = [
    (name) => resourceNames.test(name),
    (name) => generalNames.test(name),
    (name, array) => array.length > 0 && array.every(isRecord) && !otherArrays.test(name),
    (name, array) => array.length === 0 && !otherArrays.test(name),
  ];
  for (const isPreferred of preferences) {
    for (const holder of holders) {
      const found = arraysOf(holder).filter(([name, array]) => isPreferred(plainName(name), array));
      if (found.length > 1 && found.some(([, array]) => array.length > 0)) throw ambiguous(found);
      if (found[0]) return found[0][1];
    }
  }
  if (isEmptyAsNull(body, holders)) return [];
  throw unknownShape(body);
}

const customerNames = /^(customers|contacts|profiles)$/;
const contactGroupNames = /^((contact)?groups|lists|segments)$/;
const generalNames = /^(data|items|results|records|content|rows|entries|elements|nodes|list|values)$/;
/** Arrays of objects that are not the list. */
const otherArrays = /^(errors|warnings|links|included|facets|filters|sort)$/;

type NamedArray = [name: string, array: readonly unknown[]];

function arraysOf(holder: JsonObject): NamedArray[] {
  return Object.entries(holder).flatMap(([key, value]) => (Array.isArray(value) ? [[key, value]] : []));
}

/** Some servers write an empty array as null. It counts as empty only with a total of 0 (D28). */
function isEmptyAsNull(body: unknown, holders: readonly JsonObject[]): boolean {
  const { totalItems, totalPages } = parsePageInfo(body, 0);
  const isEmpty = totalItems === 0 || (totalItems === undefined && totalPages === 0);
  return isEmpty && holders.some((holder) => Object.values(holder).includes(null));
}

/** A 2xx without items that reports a failure must not become an empty list. */
function reportsFailure(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { success, status, errors } = body;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  return success === false || status === false || status === "error" || hasErrors;
}

function ambiguous(found: readonly NamedArray[]): UndecodableResponse {
  const keys = describeKeys(found.map(([name]) => name));
  return new UndecodableResponse(
    `its body holds several arrays that could be the list: ${keys}. ${parsePageHint}`,
  );
}

function unknownShape(body: unknown): UndecodableResponse {
  const data = isRecord(body) && "data" in body ? `, its \`data\` is ${describeShape(body["data"])}` : "";
  return new UndecodableResponse(
    `its body holds no list that the client can find: it is ${describeShape(body)}${data}. ${parsePageHint}`,
  );
}

const parsePageHint = "Give the client a `parsePage` that returns the items.";
