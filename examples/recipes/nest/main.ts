import "reflect-metadata";
import { Module } from "@nestjs/common";
import { HttpAdapterHost, NestFactory } from "@nestjs/core";
import { AudienceFilter } from "./audience.filter.ts";
import { AudienceModule } from "./audience.module.ts";
import { SubscribersController } from "./subscribers.controller.ts";

@Module({ imports: [AudienceModule], controllers: [SubscribersController] })
class AppModule {}

const app = await NestFactory.create(AppModule);
app.useGlobalFilters(new AudienceFilter(app.get(HttpAdapterHost).httpAdapter));
app.enableShutdownHooks(); // without it no shutdown hook is called at SIGTERM
await app.listen(Number(process.env["PORT"] ?? 3000));
