import type { CallRecord, Departure, Log } from "../records.ts";

/** A question to the service for a contact, before a row is sent. */
export interface Look {
  readonly contactId: string;
  readonly departure: Departure;
}

/** The looks of a run that were answered before one of its calls was sent. They belong to no call of ours. */
export function looksBefore(
  { clients, departures }: Log,
  { client, run, departures: sent }: CallRecord,
): Look[] {
  const { process } = clients.get(client)!;
  const [{ at: sentAt } = { at: Infinity }] = sent;
  return departures.flatMap((departure) => {
    const { at, call, method, request, status } = departure;
    const contactId = /\/api\/v1\/customer\/([^/]+)$/.exec(request?.path ?? "")?.[1];
    const isLook = method === "GET" && !call && status === 200 && departure.process === process;
    const isOfRun = at >= run!.startedAt && at <= sentAt;
    return isLook && isOfRun && contactId !== undefined
      ? [{ contactId: decodeURIComponent(contactId), departure }]
      : [];
  });
}
