// The job, once each night.
import { ClientClosedError } from "audience-sdk";
import { connect } from "./connect.ts";
import { night } from "./night.ts";

const { audience, people, close } = await connect();
process.once("SIGTERM", () => void audience.close());
try {
  await night(audience, people, process.env["FOLDER"] ?? ".");
} catch (error) {
  // Stopped: the next night goes on.
  if (!(error instanceof ClientClosedError)) throw error;
} finally {
  await close();
}
