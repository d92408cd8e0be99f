import { Global, Logger, Module, type OnApplicationShutdown } from "@nestjs/common";
import { AudienceClient } from "audience-sdk";

/** One client for the whole application: inject `AudienceClient`. */
@Global()
@Module({
  providers: [
    {
      provide: AudienceClient,
      // A person waits for each call: none takes longer than this, so that the application can also stop in time.
      useFactory: () => new AudienceClient({ deadlineMs: 5_000, logger: new Logger("Audience") }),
    },
  ],
  exports: [AudienceClient],
})
export class AudienceModule implements OnApplicationShutdown {
  constructor(private readonly audience: AudienceClient) {}

  /** Nest calls it when the requests in flight have ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.audience.close({ drain: true, timeoutMs: 2_000 });
  }
}
