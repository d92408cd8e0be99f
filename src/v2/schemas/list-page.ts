import { documented, documentedNumber, documentedText } from "../../fields/documented.ts";
import { listOf } from "../../fields/list.ts";
import { answerFields } from "../../fields/objects.ts";
import { text } from "../../fields/text.ts";

/**
 * One page of lists, the answer to `GET /v2/lists`. Needed: `data.lists` and each one's `uuid`. A function, unlike the
 * others: nobody but `audience-sdk/schemas` reads by it, and a bundler can leave it out where its schema is not used.
 */
/*! @__NO_SIDE_EFFECTS__ */
export function v2ListPage() {
  return answerFields({
    success: documented<boolean>({ type: "boolean" }),
    data: answerFields({
      lists: listOf(
        answerFields({
          uuid: text(),
          name: documentedText(),
          created_at: documentedNumber(),
          description: documentedText(),
        }),
      ),
      current_page: documentedNumber(),
      /** Pages available at the current `limit`. */
      total_pages: documentedNumber(),
      /** Lists in all. */
      total_items: documentedNumber(),
      items_per_page: documentedNumber(),
    }),
  });
}
