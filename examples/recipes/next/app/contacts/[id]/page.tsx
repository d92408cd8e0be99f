import { NotFoundError } from "audience-sdk";
import { notFound } from "next/navigation";
import { audience } from "../../../lib/audience";

export const dynamic = "force-dynamic"; // shows the consent as it is now, and is not built beforehand

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  try {
    const { attributes } = await audience().v1.customers.get(decodeURIComponent(id), { priority: 0 });
    return <p>{attributes.email_opt_in}</p>;
  } catch (error) {
    if (error instanceof NotFoundError) notFound();
    throw error;
  }
}
