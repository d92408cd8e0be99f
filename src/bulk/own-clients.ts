import { ConfigurationError } from "../errors.ts";
import { unlessLate } from "../transport/abort.ts";
import type { FamilyIdentity, KeySource } from "../transport/call.ts";
import type { Target } from "./target.ts";

/** A key function of another client is not waited for longer (D154). */
const longestWaitMs = 2_000;

/** Tells the clients of a run's own organization from others. */
export class OwnClients {
  readonly #target: Target;
  /** The keys of the run that were asked for. */
  readonly #asked = new Map<KeySource, Promise<void>>();

  constructor(target: Target) {
    this.#target = target;
  }

  /** Whether a client with these families writes to the same service. */
  ofService(families: readonly FamilyIdentity[]): boolean {
    return this.#pairs(families).length > 0;
  }

  /** Whether a client shares the key of one family with the run: both families write the same contacts (D143). */
  async ofOrganization(families: readonly FamilyIdentity[]): Promise<boolean> {
    const pairs = this.#pairs(families);
    const isShared = ([own, other]: (typeof pairs)[number]): boolean => own.isSameAs(other);
    if (pairs.some(isShared)) return true;
    await Promise.all(pairs.flatMap(([own, other]) => [this.#askOnce(own), ask(other)]));
    return pairs.some(isShared);
  }

  /** Throws for a client that writes to another target: a checkpoint would record its rows for its own. */
  async refuseOthers(families: readonly FamilyIdentity[]): Promise<void> {
    // A name stands for all keys.
    const isNamed = this.#target.organization !== undefined;
    if (isNamed ? this.ofService(families) : await this.ofOrganization(families)) return;
    throw new ConfigurationError(
      "A row was to be written with another key or base URL than that of the client whose `bulk` it is, so its " +
        "checkpoint would record it for the wrong organization. Start the run with the client that writes its rows.",
    );
  }

  /** The keys of the run, each with that of a client for the same family of the same service. */
  #pairs(families: readonly FamilyIdentity[]): (readonly [own: KeySource, other: KeySource])[] {
    return this.#target.families.flatMap((own) =>
      families
        .filter(({ name, baseUrl }) => own.name === name && own.baseUrl === baseUrl)
        .map(({ key }) => [own.key, key] as const),
    );
  }

  /** Later the rows of the run ask, before each attempt. */
  async #askOnce(key: KeySource): Promise<void> {
    const asked = this.#asked.get(key) ?? ask(key);
    this.#asked.set(key, asked);
    await asked;
  }
}

/** A function that fails or hangs gives no key, and its client sends nothing. */
async function ask(key: KeySource): Promise<void> {
  const asked = (async () => await key.request())();
  await Promise.allSettled([unlessLate(asked, longestWaitMs, () => "")]);
}
