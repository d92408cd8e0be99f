/** What a run says once, at `"warn"`. */
export class RunWarnings {
  readonly #warn: (message: string) => void;
  readonly #said = new Set<string>();
  /** The rows that subscribed somebody of whom nothing was known. */
  unknownPeople = 0;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Whether it is said for the first time. */
  isNews(what: string): boolean {
    const isNews = !this.#said.has(what);
    this.#said.add(what);
    return isNews;
  }

  notShown(channel: string): void {
    this.#once(`the service shows no consent of ${channel} that is documented: rows are not judged by it`);
  }

  leavesContact(): void {
    this.#once(
      "a row names another contact than under its key before: `formerId` is the one that is left as it is",
    );
  }

  /** At the end of the run. */
  sayUnknownPeople(): void {
    if (this.unknownPeople === 0) return;
    const subject =
      this.unknownPeople === 1 ? "1 row subscribed somebody" : `${this.unknownPeople} rows subscribed people`;
    this.#warn(`${subject} of whom nothing was known: a snapshot shows who has refused at the service`);
  }

  #once(message: string): void {
    if (this.isNews(message)) this.#warn(message);
  }
}
