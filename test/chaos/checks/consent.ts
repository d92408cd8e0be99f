import type { Profile } from "audience-sdk";
import { factsOf, type Input, personOf, phoneOf } from "../inputs.ts";
import type { RunRecord } from "../records.ts";
import type { World } from "../world.ts";

/** Every superseded row has a reason, and says which. */
export function checkReasons(world: World): string[] {
  return world.log.runs.flatMap((run) => checkReasonsOf(world, run));
}

function checkReasonsOf({ log, service }: World, run: RunRecord): string[] {
  // Also a write that was never sent: it is recorded before, and its process killed, or the run over, in between.
  const others = log.calls.filter(({ run: other }) => other !== run);
  const { consentHistory } = service.mock.organization("chaos");
  return run.results.flatMap((result) => {
    if (result.status !== "superseded") return [];
    const { key, item, error, reason, service: shown } = result;
    const refusing = run.rows.filter(({ inputs }) => inputs.some((input) => isRefusing(input)));
    const isOfPerson = (text: string | undefined): boolean =>
      text?.toLowerCase().startsWith(`p${item.person}`) === true;
    const has = {
      process: others.some(({ input }) => input && personOf(input) === item.person),
      service: shown
        ? isRefusal(shown.attributes)
        : consentHistory.some(
            ({ email, phone, to }) =>
              to !== "SUBSCRIBED" && (isOfPerson(email) || phone === phoneOf(item.person)),
          ),
      run: refusing.some(({ inputs }) => inputs.some((input) => personOf(input) === item.person)),
      snapshot: false,
      "not-current": log.calls.some(
        (call) => call.run === run && call.key === key && call.answers.some((answer) => !answer.isCurrent),
      ),
    }[reason];
    return has ? [] : [`row ${key} is superseded by ${reason} without a reason (${String(error)})`];
  });
}

function isRefusing(input: Input): boolean {
  return Object.values(factsOf(input).consent).some((word) => word === "UNSUBSCRIBED" || word === "TRUE");
}

function isRefusal({
  email_opt_in,
  phone_opt_in,
  is_suppressed,
}: Pick<Profile["attributes"], "email_opt_in" | "phone_opt_in" | "is_suppressed">): boolean {
  return (
    is_suppressed === true ||
    [email_opt_in, phone_opt_in].some((status) => status === "NON_SUBSCRIBED" || status === "UNSUBSCRIBED")
  );
}
