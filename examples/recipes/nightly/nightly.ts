// The job, once each night.
import { connect } from "./connect.ts";
import { night } from "./night.ts";

const { audience, people, close } = await connect();
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
try {
  await night(audience, people, process.env["FOLDER"] ?? ".", stop.signal);
} catch (error) {
  // Stopped: the next night goes on.
  if (!stop.signal.aborted) throw error;
} finally {
  await close();
}
