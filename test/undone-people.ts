import { ClickUndone, everyClick, type EveryClickOptions, type MockService } from "audience-sdk/mock";

/** Who of these people is subscribed again, if she leaves at the service at some moment of the job. */
export async function undonePeople(
  job: (mock: MockService) => Promise<unknown>,
  { people, ...options }: EveryClickOptions & { people: readonly string[] },
): Promise<string[]> {
  const undone: string[] = [];
  for (const person of people)
    await everyClick(job, { ...options, people: [person] }).catch((error: unknown) => {
      if (!(error instanceof ClickUndone) || error.entry === undefined) throw error;
      undone.push(person);
    });
  return undone;
}
