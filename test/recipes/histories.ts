import { setTimeout as sleep } from "node:timers/promises";
import type { MockRequest } from "audience-sdk/mock";
import type { QueueWorld } from "./queue-world.ts";

type Channel = "email" | "phone";

/** A word that a person gave, on the user's own site or by a click at the service. */
interface Said {
  readonly channel: Channel;
  readonly word: string;
  readonly isClick: boolean;
  /** How many requests had arrived when she began to say it. */
  readonly atRequest: number;
  /** And when it was committed: a job that has read the acts before cannot know it, and gets a successor. */
  readonly knownAt: number;
}

interface Person {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly said: Said[];
}

export const rolledBack = "Rolled Back";

/** People, each with a random history; and the judgement of what the service shows in the end. */
export class Histories {
  /** The ids of the events that were committed. */
  readonly events: string[] = [];
  readonly #world: QueueWorld;
  readonly #random: () => number;
  readonly #people: Person[];

  constructor(world: QueueWorld, count: number, random: () => number) {
    this.#world = world;
    this.#random = random;
    this.#people = Array.from({ length: count }, (_, order) => ({
      name: `${order}`,
      email: `person${order}@example.com`,
      phone: `+4930${1_000_000 + order}`,
      said: [],
    }));
  }

  /** Half of the people are at the service already; the sender knows their ids, as from a snapshot. */
  async begin(): Promise<void> {
    const { db, mock } = this.#world;
    await this.#world.createPeople();
    for (const { name, email } of this.#people) {
      await db.query("insert into people values ($1, $2, 'Berlin')", [name, email]);
      if (this.#chance(0.5)) continue;
      const word = this.#chance(0.5) ? "SUBSCRIBED" : "UNSUBSCRIBED";
      const { baseUrl, apiKey } = mock.clientOptions;
      const response = await mock.fetch(`${baseUrl}/api/v1/customer/create`, {
        method: "POST",
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        body: JSON.stringify({ email, email_opt_in: word }),
      });
      const { data } = (await response.json()) as { data: { id: string } };
      await db.query("insert into audience_people values ($1, $2, '[]')", [name, data.id]);
    }
  }

  /** All at once; each person does one thing after another. */
  async run(): Promise<void> {
    await Promise.all(this.#people.map((person) => this.#live(person)));
  }

  async #live(person: Person): Promise<void> {
    for (let step = 3 + Math.floor(5 * this.#random()); step > 0; step -= 1) {
      await sleep(4_000 * this.#random());
      const which = this.#random();
      if (which < 0.6) await this.#act(person, which < 0.1);
      else if (which < 0.85) this.#click(person);
      else
        await this.#world.db.query("update people set city = $2 where person = $1", [
          person.name,
          `City ${step}`,
        ]);
    }
  }

  async #act(person: Person, isRolledBack: boolean): Promise<void> {
    const word = (): string => (this.#chance(0.6) ? "SUBSCRIBED" : "UNSUBSCRIBED");
    const words: Partial<Record<Channel, string>> = {
      email: word(),
      ...(this.#chance(0.4) && { phone: word() }),
    };
    const eventId = this.#chance(0.3) ? `${person.name}-${this.#random()}` : undefined;
    const begun = this.#world.mock.requests.length;
    await this.#world.enqueue(
      {
        person: person.name,
        contact: {
          email: person.email,
          first_name: isRolledBack ? rolledBack : "Ada",
          email_opt_in: words.email!,
          ...(words.phone && { phone: person.phone, phone_opt_in: words.phone }),
        },
        isForList: this.#chance(0.4),
        ...(eventId && { eventId }),
        isRolledBack,
      },
      Math.floor(4 * this.#random()),
    );
    if (isRolledBack) return;
    if (eventId) this.events.push(eventId);
    const knownAt = this.#world.mock.requests.length;
    for (const channel of Object.keys(words) as Channel[])
      person.said.push({ channel, word: words[channel]!, isClick: false, atRequest: begun, knownAt });
  }

  #click(person: Person): void {
    const channel = this.#chance(0.7) ? "email" : "phone";
    const contact = this.#contact(person);
    if (contact?.[channel] === undefined || contact[`${channel}_opt_in`] === "UNSUBSCRIBED") return;
    this.#world.mock.unsubscribe(contact.email!, { channel });
    const atRequest = this.#world.mock.requests.length;
    person.said.push({ channel, word: "UNSUBSCRIBED", isClick: true, atRequest, knownAt: atRequest });
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #contact({ email }: Pick<Person, "email">) {
    return this.#world.mock
      .organization("mock-organization")
      .contacts.find((contact) => contact.email === email);
  }

  /**
   * Each person's last word stands; else it is named here why not: `undone` are clicks that no look could show in time, `held`
   * the opt-ins that the recipe held back, and told of, although they were newer; and everything else is `wrong`.
   */
  async judge(): Promise<{ undone: string[]; held: string[]; wrong: string[] }> {
    const { rows } = await this.#world.db.query<{ email: string }>(
      "select write->'contact'->>'email' as email from audience_unsent",
    );
    const unsent = new Set(rows.map(({ email }) => email));
    const { excused, wrong } = this.#resubscriptions();
    const judged = { undone: [] as string[], held: [] as string[], wrong };
    for (const person of this.#people) {
      for (const channel of ["email", "phone"] as const) {
        const last = person.said.findLast((said) => said.channel === channel);
        const state = this.#contact(person)?.[`${channel}_opt_in`];
        if (!last || last.word === state) continue;
        const name = `${channel} of ${person.email}`;
        const line = `${name} is ${state}, the last word was ${JSON.stringify(last)}`;
        if (last.isClick && excused.has(name)) judged.undone.push(line);
        else if (!last.isClick && state === "UNSUBSCRIBED" && unsent.has(person.email))
          judged.held.push(line);
        else judged.wrong.push(line);
      }
    }
    return judged;
  }

  #resubscriptions(): { excused: Set<string>; wrong: string[] } {
    const [excused, wrong] = [new Set<string>(), [] as string[]];
    for (const { contactId, email, channel, at } of this.#world.mock.resubscriptions) {
      const name = `${channel} of ${email}`;
      const person = this.#people.find((one) => one.email === email)!; // nobody else is there
      const about = this.#about(contactId, person);
      const raised = about.findLastIndex(
        ([request]) => request.method === "POST" && request.arrivedAtMs <= Date.parse(at),
      );
      const looks = about.slice(Math.max(0, raised - 3), raised).filter(([{ method }]) => method === "GET");
      const readAt = looks.at(0)?.[1] ?? about[raised]![1];
      const last = person.said.findLast(
        ({ atRequest, channel: of, knownAt, word }) =>
          of === channel && (word === "SUBSCRIBED" ? atRequest <= about[raised]![1] : knownAt <= readAt),
      );
      const click = person.said.findLast(
        (said) => said.isClick && said.channel === channel && said.atRequest <= about[raised]![1] + 1,
      );
      // A job's look and its write; a run of `bulk` may call in between. Or the first contact, whose responses were all lost.
      const isBetween = looks.some(([, index]) => click !== undefined && click.atRequest > index);
      const isFirst = about.slice(0, raised).every(([request, index]) => this.#isLost(request, index));
      const hasAskedAgain = last?.word === "SUBSCRIBED";
      if (isBetween || isFirst) excused.add(name);
      else if (!hasAskedAgain)
        wrong.push(
          `${name} was resubscribed by ${JSON.stringify(about.slice(0, raised + 1).map(([request, index]) => [index, request.method, request.body, request.status, request.fault]))}, said ${JSON.stringify(person.said)}`,
        );
    }
    return { excused, wrong };
  }

  /** The requests about a contact, with their places among all. */
  #about(id: string, { email }: Person): (readonly [MockRequest, number])[] {
    const isAbout = ({ path, body }: MockRequest): boolean =>
      path.endsWith(`/${id}`) || (body as { email?: string } | undefined)?.email === email;
    return this.#world.mock.requests.flatMap((request, index) =>
      isAbout(request) ? [[request, index] as const] : [],
    );
  }

  /** Its sender has no response: by a fault, or as it was killed. */
  #isLost({ fault, headers }: MockRequest, index: number): boolean {
    const after = this.#world.mock.requests
      .slice(index + 1)
      .filter((later) => later.headers["x-sender"] === headers["x-sender"]);
    return fault !== undefined || after.length < 12;
  }
}
