import { Catch, HttpException, type ArgumentsHost } from "@nestjs/common";
import { BaseExceptionFilter } from "@nestjs/core";
import { isAudienceError } from "audience-sdk";

/** Answers with 400 what was invalid, and with 503 what the service did not carry out, or may have. */
@Catch()
export class AudienceFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    super.catch(isAudienceError(error) ? toHttp(error) : error, host);
  }
}

function toHttp(error: unknown): unknown {
  if (!isAudienceError(error)) return error;
  if (error.code === "validation") return new HttpException({ issues: error.issues }, 400);
  return new HttpException({ outcome: error.outcome }, 503, { cause: error });
}
