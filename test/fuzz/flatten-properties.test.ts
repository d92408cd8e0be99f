import { flattenProperties, type FlattenOptions } from "audience-sdk/schemas";
import { it } from "vitest";
import { tryEntryPoint } from "./try-entry-point.ts";
import { rightEvent, rightIdentifier, rightQuery, rightV1Contact, rightV2Contact } from "./valid-inputs.ts";

/** Of each kind of input one that is accepted. */
const right = [rightV1Contact, rightEvent, rightV2Contact, rightIdentifier, rightQuery];

it("Whatever is given to flattenProperties, it gives flat properties or an error of ours", async () => {
  const act = (value: unknown, options: unknown) =>
    // As a caller without types may.
    flattenProperties(value as object, options as FlattenOptions);
  await tryEntryPoint({ act, takes: 2, right: [right, [{ separator: "." }]] }, 200);
});
