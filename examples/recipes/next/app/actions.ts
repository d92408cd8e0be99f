"use server";

import { isAudienceError } from "audience-sdk";
import { redirect } from "next/navigation";
import { audience } from "../lib/audience";

/** The action of the form. Each problem has a page of its own, or a text in yours. */
export async function subscribe(form: FormData): Promise<void> {
  const email = String(form.get("email"));
  // Anybody could type the address: its owner is asked.
  const contact = { email, email_opt_in: "SUBSCRIBED" as const, double_opt_in: true };
  let target: string;
  try {
    const { id } = await audience().v1.customers.upsert(contact, { priority: 0 });
    target = `/contacts/${encodeURIComponent(id)}`;
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    target = `/?problem=${error.code === "validation" ? "address" : "later"}`;
  }
  redirect(target); // outside of `try`: it throws
}
