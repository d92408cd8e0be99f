import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { playSeeds, range, Tally } from "./run-seed.ts";
import { faultKinds, operations, variantChoices } from "./service.ts";

/** Some programs: together they reach all that is named below. */
const seeds = range(1, 50);

it("Random programs under random faults, kills and variants of the service break no promise", async () => {
  const tally = new Tally();

  await playSeeds(seeds, { onWorld: tally.add });

  const statuses = ["succeeded", "invalid", "failed", "unknown", "skipped", "superseded"];
  const reached = [
    ...faultKinds.map((kind) => `fault ${kind}`),
    ...Object.keys(variantChoices).map((variant) => `variant ${variant}`),
    ...["not-sent", "not-applied", "applied", "unknown"].map((outcome) => `outcome ${outcome}`),
    ...statuses.map((status) => `row ${status}`),
    ...["run", "process", "service", "not-current"].map((reason) => `rows superseded by ${reason}`),
    ...["another service", "another organization"].map((target) => `a run for ${target}`),
    "calls killed",
    "change new",
    "change consent",
    "retried calls",
    "rows of two writes",
    "rows kept",
    "runs killed",
  ];
  expect(reached.filter((each) => !tally.counts.has(each))).toEqual([]);
});

it.each([
  ["fault", { faults: [{ kind: "none of them" }] }, faultKinds],
  ["variant", { variants: { noneOfThem: 1 } }, Object.keys(variantChoices)],
  ["operation", { faults: [{ kind: "hang", operation: "none of them" }] }, operations],
])("Chaos knows every %s of the mock", (_, wrong, known) => {
  const create = () => createMockService(wrong as unknown as MockServiceOptions);

  // The mock names all that there are.
  expect(create).toThrow(
    expect.objectContaining({ message: expect.toSatisfy((message: string) => isListOf(message, known)) }),
  );
});

function isListOf(message: string, names: readonly string[]): boolean {
  const listed = message.replace(/.* (one of|there are) /, "").split(", ");
  return String(listed.toSorted()) === String(names.toSorted());
}
