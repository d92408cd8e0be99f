import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import type { World } from "../world.ts";

/** Every item comes once, and a list ends. */
export function checkPages({ log, service }: World): string[] {
  const { contacts } = service.mock.organization("chaos");
  const order = new Map(contacts.map(({ id }, index) => [id, index]));
  return log.lists.flatMap(({ list, call, before, received, isWhole }) => {
    const problems: string[] = [];
    if (new Set(received).size < received.length) problems.push("gave an item twice");
    // Contacts are only added, at the end; lists do not change.
    const isInOrder = received.every((id, index) => {
      const previous = received[index - 1];
      return list !== "customers" || previous === undefined || order.get(previous)! < order.get(id)!;
    });
    if (!isInOrder) problems.push("gave items in another order");
    if (isWhole && before.some((id) => !received.includes(id))) {
      const missing = before.filter((id) => !received.includes(id));
      problems.push(`did not give ${missing.join(", ")}`);
    }
    if (isWhole && list !== "customers" && received.length !== before.length) problems.push("gave too much");
    if (call.error !== undefined && !isAudienceError(call.error))
      problems.push(`threw ${inspect(call.error)}`);
    return problems.map((problem) => `the list of ${list} (${call.tag}) ${problem}`);
  });
}
