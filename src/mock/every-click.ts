import { ClickRun, type PlannedClick } from "./click-run.ts";
import {
  DEFAULT_TIMEOUT_MS,
  describeRequest,
  type Job,
  type JobRequest,
  learn,
  messageOf,
  ofOneRun,
  runAll,
  timeoutRule,
} from "./job-runs.ts";
import { aFunction, arrayOf, checkOption, enumOf, fromOne, nonEmptyString, object } from "./json-rules.ts";
import type { MockServiceOptions } from "./mock-options.ts";
import { createMock } from "./mock-service.ts";
import type { MockRequest, MockService } from "./public-types.ts";
import { nameOfContact } from "./state/changes.ts";
import type { MockConsentChange, MockContact } from "./state/organization-state.ts";
import type { Organization } from "./state/organization.ts";
import type { Organizations } from "./state/organizations.ts";

/** Options of `everyClick`. */
export interface EveryClickOptions {
  /**
   * Who unsubscribes: ids, or addresses and numbers that they have at the end of the first run, or had at a change of one
   * of their consents. Default: all contacts at the end of the first run.
   */
  people?: readonly string[] | undefined;
  /** The requests of the first run before which they do; default all. */
  requests?: ((request: MockRequest) => boolean) | undefined;
  /** What they unsubscribe from; default, as of `mock.unsubscribe`: the e-mail, or the phone of one who has or is named by a phone. */
  channel?: "email" | "phone" | undefined;
  /** The number of writes about a person for which one look at her is enough; default 1. */
  writesPerLook?: number | undefined;
  /** Milliseconds for one run; default 60,000. A job that has not ended by then fails with that click. */
  timeoutMs?: number | undefined;
  /** The options of each mock; default none. */
  mock?: MockServiceOptions | undefined;
}

/** When a person unsubscribed. */
export interface JobClick {
  /** Before the job began, just before `request` arrived, or after the last request of the job had ended. */
  when: "before-first" | "before-request" | "after-last";
  /** Only with `"before-request"`. */
  request?: JobRequest;
}

/** What `ClickUndone` tells. */
interface Finding {
  person: string;
  channel: "email" | "phone";
  click: JobClick;
  undone: { entry: MockConsentChange; by: JobRequest } | undefined;
}

/** One click that a job undoes, hides or does not survive. */
export class ClickUndone extends Error {
  /** The name of the person who unsubscribed. */
  readonly person: string;
  /** The channel from which the person unsubscribed. */
  readonly channel: "email" | "phone";
  /** When the person unsubscribed. */
  readonly click: JobClick;
  /** The entry of `mock.resubscriptions` that undid or hid it; `undefined` if the job only fails. */
  readonly entry: MockConsentChange | undefined;
  /** The request of that entry. */
  readonly undoneBy: JobRequest | undefined;
  /** The error of the job itself, if it fails. */
  declare readonly cause?: unknown;

  constructor({ person, channel, click, undone }: Finding, failure?: { error: unknown }) {
    const act = `${person} unsubscribes (${channel}) ${describeClick(click)}`;
    const message =
      undone === undefined
        ? `the job fails if ${act}: ${messageOf(failure?.error)}`
        : `if ${act}, ${describeRequest(undone.by)} writes ${undone.entry.to} over it`;
    super(message, failure && { cause: failure.error });
    this.name = "ClickUndone";
    this.person = person;
    this.channel = channel;
    this.click = click;
    this.entry = undone?.entry;
    this.undoneBy = undone?.by;
  }
}

function describeClick({ when, request }: JobClick): string {
  if (request !== undefined) return `just before ${describeRequest(request)}`;
  return when === "before-first" ? "before the first request" : "after the last request";
}

// `createMockService` checks its options itself.
const optionsRule = object({
  people: arrayOf(nonEmptyString, { min: 1 }),
  requests: aFunction,
  channel: enumOf("email", "phone"),
  writesPerLook: fromOne,
  timeoutMs: timeoutRule,
  mock: () => undefined,
});

/**
 * Finds the person whom a job subscribes again. It runs the job once to learn its requests, and then once for each person
 * and each request: just before that request arrives, the person unsubscribes at the service. It also does so before the
 * first request, and after the last. Afterwards no entry of `mock.resubscriptions` may concern that click.
 *
 * ```ts
 * const { requests, runs } = await everyClick(
 *   async (mock) => {
 *     const { v1 } = new AudienceClient(mock.clientOptions);
 *     for (const { email, city } of table) await v1.customers.upsert({ email, city }); // no opt-in, no harm
 *   },
 *   { mock: { organizations } }, // with people who are subscribed
 * );
 * ```
 *
 * Two clicks are not counted, as nobody could have known of them. One comes between a look at this person
 * (`GET /api/v1/customer/{id}`) and the `writesPerLook` writes about her that follow: a job whose row is an event and a
 * contact needs 2, and an attempt that was not applied is no write. The other comes while the request that undoes it is
 * under way already, where the mock has a `latencyMs`.
 *
 * A person who returns on your own site within the job says so by `mock.asksAgain`, which counts as a look at her. A click
 * is left out where the service does not know the person yet. Each run has a mock of its own, and several run at a time, so a job must share nothing
 * with its other runs. It resolves to the number of requests of the first run, and the number of runs, the first included.
 *
 * @throws {ClickUndone} if a request undoes or hides a click, or the job fails with one: the first, person after person.
 * @throws the job's own error, unchanged, if it fails without any click.
 * @throws {TypeError} if an option is wrong, the job sends no request to its mock, or there is nobody who could unsubscribe.
 */
export async function everyClick(
  job: (mock: MockService) => Promise<unknown>,
  options: EveryClickOptions = {},
): Promise<{ requests: number; runs: number }> {
  checkOption("job", job, aFunction);
  checkOption("options", options, optionsRule);
  const { requests: isChosen = () => true, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const { writesPerLook = 1, mock: mockOptions = {} } = options;
  const { service: mock, state } = createMock(mockOptions);
  const read = () => ({ people: peopleOf(state().organizations, options), requests: [...mock.requests] });
  const { people, requests } = await learn(job, { mock, timeoutMs, read });
  const chosen = requests.flatMap((request, index) => (isChosen(request) ? [index] : []));
  const moments = ["before-first", ...chosen, "after-last"] as const;
  const clicks = people.flatMap((person) => moments.map((moment) => ({ ...person, moment })));
  const settings = { mock: mockOptions, timeoutMs, writesPerLook, requests: requests.length };
  await runAll(clicks, (click) => runWith(click, job, settings));
  return { requests: requests.length, runs: clicks.length + 1 };
}

type Person = Omit<PlannedClick, "moment">;

/** Who unsubscribes in the runs, and from what. */
function peopleOf(
  { organizations }: Organizations,
  { people, channel }: Pick<EveryClickOptions, "people" | "channel">,
): Person[] {
  const personsOf = (owner: Organization, contact: Names, person = nameOfContact(contact)): Person[] => {
    const from = channel ?? (contact.phone === person || contact.email === undefined ? "phone" : "email");
    const { id: contactId } = contact;
    if (owner.contact(contactId)?.[from] === undefined) return [];
    return [{ contactId, person, channel: from, organization: owner.seed.id }];
  };
  if (people === undefined) {
    const all = organizations.flatMap((owner) => owner.contacts().flatMap((one) => personsOf(owner, one)));
    if (all.length > 0) return all;
    throw new TypeError("at the end of the job there is nobody who could unsubscribe: seed contacts");
  }
  return people.flatMap((name) => {
    const found = organizations.flatMap((owner) =>
      contactsNamed(name, owner).flatMap((contact) => personsOf(owner, contact, name)),
    );
    if (found.length > 0) return found;
    throw new TypeError(`at the end of the job "${name}" is nobody who could unsubscribe`);
  });
}

type Names = Pick<MockContact, "id" | "email" | "phone">;

/** The contact of this name at the end, and those that had it when one of their consents changed. */
function contactsNamed(name: string, owner: Organization): Names[] {
  const former = owner.state().consentHistory.map(({ contactId: id, ...names }) => ({ id, ...names }));
  const had = former.filter(({ email, phone }) => email === name || phone === name);
  const found = [owner.person(name) ?? [], had].flat();
  return found.filter(({ id }, index) => found.findIndex((other) => other.id === id) === index);
}

interface Settings {
  mock: MockServiceOptions;
  timeoutMs: number;
  writesPerLook: number;
  /** The number of requests of the first run. */
  requests: number;
}

async function runWith(planned: PlannedClick, job: Job, settings: Settings): Promise<void> {
  const run = new ClickRun(createMock(ofOneRun(settings.mock)), planned, settings);
  let failure: { error: unknown } | undefined;
  await run.end(job, settings.timeoutMs).catch((error: unknown) => (failure = { error }));
  const undone = run.undone();
  if (failure === undefined && undone === undefined) return;
  // The click had no part in it.
  if (failure !== undefined && !run.hasClicked) throw failure.error;
  const { person, channel, moment } = planned;
  const click: JobClick =
    typeof moment === "number" ? { when: "before-request", request: run.request(moment) } : { when: moment };
  throw new ClickUndone({ person, channel, click, undone }, failure);
}
