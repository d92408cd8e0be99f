import { Body, Controller, Post } from "@nestjs/common";
import { AudienceClient, type V1Contact } from "audience-sdk";

@Controller("subscribers")
export class SubscribersController {
  constructor(private readonly audience: AudienceClient) {}

  @Post()
  async subscribe(@Body() { email }: { email: V1Contact["email"] }): Promise<{ id: string }> {
    // Anybody could type the address: its owner is asked. The client validates it.
    const contact = { email, email_opt_in: "SUBSCRIBED" as const, double_opt_in: true };
    const profile = await this.audience.v1.customers.upsert(contact, { priority: 0 });
    return { id: profile.id };
  }
}
