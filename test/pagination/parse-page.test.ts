import { type ParsePage, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, test, vi } from "vitest";
import { errorOf } from "./fake-list.ts";
import { clientOf } from "./served-lists.ts";

const contacts = [
  { id: "a", email: "a@example.com" },
  { id: "b", email: "b@example.com" },
];
const body = { result: { people: contacts, size: 250 } };

const read = async (parsePage: ParsePage, response: unknown = body) =>
  await clientOf(() => response, { parsePage }).v1.customers.list();

/** The message of the error that reading with this `parsePage` ends with. */
async function refusal(parsePage: ParsePage): Promise<string> {
  const error = await errorOf(read(parsePage));
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  return String(error);
}

describe("parsePage", () => {
  test("may not give an item that is missing, and the error says so", async () => {
    expect(await refusal(() => ({ items: [{ id: "a" }, undefined] }))).toContain(
      "item 1 of its list has no id: it is nothing",
    );
  });

  test("parses an unusual shape: it receives the body and the operation, and its items are decoded", async () => {
    const parsePage = vi.fn<ParsePage>(() => ({
      items: contacts,
      totalItems: 250,
      totalPages: 3,
      hasNextPage: true,
    }));
    expect(await read(parsePage)).toMatchObject({
      items: contacts.map(({ id, email }) => ({ type: "profile", id, attributes: { email } })),
      totalItems: 250,
      totalPages: 3,
      hasNextPage: true,
      raw: body,
    });
    expect(parsePage.mock.calls).toEqual([[body, { operation: "v1.customers.list" }]]);
  });

  test("replaces the client's own search, and may omit totals", async () => {
    const parsePage = () => ({ items: [], totalItems: null, totalPages: 0, hasNextPage: null });
    const page = await read(parsePage, { data: contacts, total: 9 });
    expect(page).toMatchObject({ items: [], totalPages: 0, hasNextPage: false });
    expect(page).not.toHaveProperty("totalItems");
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "the value: required: an object"],
    ["the array itself", contacts, "the value: must be an object, not an array"],
    ["no items", { totalItems: 3 }, "items: required: an array"],
    ["items that are no array", { items: { a: 1 } }, "items: must be an array, not an object"],
    ["a negative total", { items: [], totalItems: -1 }, "totalItems: must be at least 0"],
    [
      "a total that is no number",
      { items: [], totalPages: "3" },
      "totalPages: must be a number, not a string",
    ],
    [
      "a flag that is no boolean",
      { items: [], hasNextPage: "no" },
      "hasNextPage: must be a boolean, not a string",
    ],
  ])("that returns %s is named in the error", async (_, given, message) => {
    // A caller in JavaScript can pass this.
    expect(await refusal(() => given as ReturnType<ParsePage>)).toContain(
      `the client's parsePage returned another value than { items, totalItems?, totalPages?, hasNextPage? }: ${message}`,
    );
  });

  test("that returns a Promise is refused, and a rejection of it is handled", async () => {
    const asynchronous = async () => Promise.reject(new Error("late"));
    // A caller in JavaScript can pass this.
    expect(await refusal(asynchronous as unknown as ParsePage)).toContain(
      "returned another value than { items",
    );
  });

  test.each<[string, unknown, string]>([
    ["an Error", new TypeError("Cannot read properties of undefined"), "Cannot read properties of undefined"],
    ["a value that is no Error", "no reason", "no reason"],
  ])("that throws %s is named in the error, with the keys of the body", async (_, thrown, message) => {
    const text = await refusal(() => {
      throw thrown;
    });
    expect(text).toContain(`threw ${message}; the body is an object with the keys result`);
  });

  test("that returns items without an id is named in the error", async () => {
    expect(await refusal(() => ({ items: [{ email: "c@example.com" }] }))).toContain("item 0");
  });
});
