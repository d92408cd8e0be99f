import { checkClosing } from "./checks/closing.ts";
import { checkConsentOverNights } from "./checks/consent-over-nights.ts";
import { checkConsent } from "./checks/consent.ts";
import { checkEvents } from "./checks/events.ts";
import { checkIsCurrent } from "./checks/is-current.ts";
import { checkLimits } from "./checks/limits.ts";
import { checkOrder } from "./checks/order.ts";
import { checkOutcomes } from "./checks/outcomes.ts";
import { checkPages } from "./checks/pages.ts";
import { checkRefusals } from "./checks/refusals.ts";
import { checkRows } from "./checks/rows.ts";
import { checkSecrets } from "./checks/secrets.ts";
import { checkState } from "./checks/state.ts";
import type { World } from "./world.ts";

const checks = [
  checkOutcomes,
  checkOrder,
  checkRows,
  checkEvents,
  checkConsent,
  checkIsCurrent,
  checkConsentOverNights,
  checkRefusals,
  checkState,
  checkLimits,
  checkSecrets,
  checkPages,
  checkClosing,
];

/** The promises of the contract that a world has broken. */
export function check(world: World): string[] {
  return checks.flatMap((each) => each(world));
}
