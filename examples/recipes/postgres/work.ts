import { startSender } from "./sender.ts";

const databaseUrl = process.env["DATABASE_URL"];
if (databaseUrl === undefined) throw new Error("DATABASE_URL is missing.");
const { stop } = await startSender(databaseUrl);
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
