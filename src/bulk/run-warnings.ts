import type { ClientSettings } from "../open-client.ts";

/** What a run says to the logger: each thing once. */
export class RunWarnings {
  readonly #observer: ClientSettings["observer"];
  readonly #said = new Set<string>();
  #unknownPeople = 0;

  constructor(observer: ClientSettings["observer"]) {
    this.#observer = observer;
  }

  readonly say = (message: string): void => this.#observer.warn(message);

  sayOnce(message: string): void {
    if (this.#isNews(message)) this.say(message);
  }

  /** At "info": it is no fault. */
  readonly waitsForCheckpoint = (): void =>
    this.#observer.info(
      "bulk waits for its checkpoint to open: up to 30 s for the lock of another run, which is not renewed",
    );

  /** `onProgress` threw, or rejected. */
  failed(error: unknown): void {
    if (this.#isNews("onProgress")) this.#observer.failed("onProgress", error);
  }

  /** A row may have subscribed somebody of whom nothing was known. */
  subscribesUnknown(): void {
    this.#unknownPeople++;
  }

  /** The run is over. */
  end(): void {
    if (this.#unknownPeople === 0) return;
    const [rows, whom] =
      this.#unknownPeople === 1 ? ["1 row", "somebody"] : [`${this.#unknownPeople} rows`, "people"];
    this.say(
      `${rows} subscribed ${whom} of whom nothing was known: a snapshot shows who has refused at the service`,
    );
  }

  #isNews(what: string): boolean {
    const isNews = !this.#said.has(what);
    this.#said.add(what);
    return isNews;
  }
}
