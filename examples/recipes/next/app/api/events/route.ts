import { isAudienceError, type V1Event } from "audience-sdk";
import { audience } from "../../../lib/audience";

export async function POST(request: Request): Promise<Response> {
  const event = (await request.json()) as V1Event; // the client validates it
  try {
    const { uniqueIdentifier } = await audience().v1.events.send(event, { priority: 0 });
    return Response.json({ uniqueIdentifier });
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    if (error.code === "validation") return Response.json({ issues: error.issues }, { status: 400 });
    return Response.json({ outcome: error.outcome }, { status: 503 });
  }
}
