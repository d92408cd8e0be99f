import type { Mock } from "./handle-request.ts";
import { type Job, type JobRequest, jobRequest, runOnce } from "./job-runs.ts";
import { namesIn } from "./names-in-body.ts";
import type { RequestRecord } from "./request-log.ts";
import type { MockConsentChange, MockContact } from "./state/organization-state.ts";

/** A person who unsubscribes at a moment of a run. */
export interface PlannedClick {
  /** The id of the contact. That of one whom the job creates may differ from run to run: then the name finds it. */
  contactId: string;
  /** An address, a number or an id. It stands in messages. */
  person: string;
  channel: "email" | "phone";
  /** The id of the person's organization. */
  organization: string;
  /** Before the job begins, before the request with this index arrives, or after as many requests as the first run had. */
  moment: "before-first" | "after-last" | number;
}

/** The click that was made. */
interface Click {
  contact: Readonly<Pick<MockContact, "id" | "email" | "phone" | "external_id">>;
  /** How many requests had arrived before it. */
  arrived: number;
  /** The version of the log after it. */
  version: number;
}

/** One run of a job in which a person unsubscribes. */
export class ClickRun {
  readonly #mock: Mock;
  readonly #planned: PlannedClick;
  readonly #writesPerLook: number;
  readonly #records: RequestRecord[] = [];
  readonly #resubscriptions: { entry: MockConsentChange; record: RequestRecord | undefined }[] = [];
  /** When the person asked again, each as the number of requests that had arrived before. */
  readonly #asked: { contactId: string; arrived: number }[] = [];
  #click: Click | undefined;

  constructor(
    mock: Mock,
    planned: PlannedClick,
    { requests, writesPerLook }: { requests: number; writesPerLook: number },
  ) {
    this.#mock = mock;
    this.#planned = planned;
    this.#writesPerLook = writesPerLook;
    const { channel, moment, organization } = planned;
    let ended = 0;
    mock.log.onArrival((record) => {
      if (this.#records.length === moment) this.#unsubscribe();
      this.#records.push(record);
    });
    mock.log.onEnd(() => {
      ended += 1;
      if (moment === "after-last" && ended === requests) this.#unsubscribe();
    });
    mock.log.onChange((change, record) => {
      if (change?.kind === "consent" && change.isResubscription)
        this.#resubscriptions.push({ entry: change.entry, record });
      const isAsking = change?.kind === "asks-again" && change.organization === organization;
      if (isAsking && change.channel === channel)
        this.#asked.push({ contactId: change.contactId, arrived: this.#records.length });
    });
    if (moment === "before-first") this.#unsubscribe();
  }

  /** Whether the person was there to unsubscribe. */
  get hasClicked(): boolean {
    return this.#click !== undefined;
  }

  /** Runs the job to its end. */
  async end(job: Job, timeoutMs: number): Promise<void> {
    try {
      await runOnce(job, this.#mock.service, timeoutMs);
    } finally {
      this.#mock.service.reset();
    }
  }

  /** The request with this index. */
  request(index: number): JobRequest {
    // Safe: it has arrived.
    return jobRequest(this.#records[index]!.entry, index + 1);
  }

  /** The first resubscription that undid or hid the click, and could have known of it. */
  undone(): { entry: MockConsentChange; by: JobRequest } | undefined {
    const click = this.#click;
    if (click === undefined) return undefined;
    for (const { entry, record } of this.#resubscriptions) {
      const index = this.#records.findIndex((each) => each === record);
      const isOfClick =
        entry.contactId === click.contact.id &&
        entry.channel === this.#planned.channel &&
        record?.organization === this.#planned.organization;
      if (!isOfClick || index < click.arrived) continue;
      // Once it is undone by a request that could not know of it, no later one can.
      return this.#isExcused(index, click) ? undefined : { entry, by: this.request(index) };
    }
    return undefined;
  }

  #unsubscribe(): void {
    const { contactId, person, channel, organization } = this.#planned;
    const { service, log, state } = this.#mock;
    const owner = state().organizations.organization(organization);
    const contact = owner.contact(contactId) ?? owner.person(person);
    if (contact?.[channel] === undefined) return;
    const arrived = this.#records.length;
    service.unsubscribe(contact.id, { channel, organization });
    this.#click = { contact: { ...contact }, arrived, version: log.version };
  }

  /**
   * Under way before the click, or one of the writes that follow a look from before the click, or the person's own word.
   * An attempt that was not applied is no write: its retry is the same one.
   */
  #isExcused(index: number, { contact, arrived, version }: Click): boolean {
    const { sentAt } = this.#records[index]!;
    if (sentAt !== undefined && sentAt < version) return true;
    // In another organization the same names are another person's.
    const isOwn = ({ organization }: RequestRecord) => organization === this.#planned.organization;
    const looked =
      this.#records.findLastIndex(
        (record, at) => at < index && isOwn(record) && isLookAt(record, contact.id),
      ) + 1;
    const asked = this.#asked.findLast((one) => one.contactId === contact.id && one.arrived <= index);
    const known = Math.max(looked, asked?.arrived ?? 0);
    if ((looked === 0 && asked === undefined) || known > arrived) return false;
    const since = this.#records.slice(known, index + 1).filter(({ entry }) => entry.applied);
    const writes = since.filter((record) => isOwn(record) && isWriteAbout(record.entry, contact));
    return writes.length <= this.#writesPerLook;
  }
}

/** A look that was answered. */
function isLookAt({ entry: { operation, status }, id }: RequestRecord, contactId: string): boolean {
  return operation === "v1.customers.get" && status === 200 && id === contactId;
}

function isWriteAbout(
  { method, body }: RequestRecord["entry"],
  { id, email, phone, external_id }: Click["contact"],
): boolean {
  if (method !== "POST") return false;
  const own = [id, email, phone, external_id].map((name) => name?.toLowerCase());
  return namesIn(body).some((name) => own.includes(name.toLowerCase()));
}
