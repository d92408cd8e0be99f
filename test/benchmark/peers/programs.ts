/** A program for each thing that is measured: its name, the folder of the package that it loads, its text. */
export interface Program {
  readonly name: string;
  readonly from: string;
  readonly text: string;
}

const key = '"key-0123456789abcdef"';
const contact = '{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }';
const profile = JSON.stringify({ data: { type: "profile", id: "c-1", attributes: {} } });
const json = '{ status: 200, headers: { "content-type": "application/json" } }';
const answer = (body: string) => `async () => new Response(${JSON.stringify(body)}, ${json})`;

const ours = {
  construct: `import { AudienceClient } from "audience-sdk";
    const audience = new AudienceClient({ baseUrl: "https://api.example.com", apiKey: ${key}, fetch: ${answer(profile)} });`,
  call: `await audience.v1.customers.upsert(${contact});`,
};

export const withACall = "audience-sdk, and a call";

export const own: Program[] = [
  { name: "audience-sdk", from: "audience-sdk", text: ours.construct },
  { name: withACall, from: "audience-sdk", text: ours.construct + ours.call },
];

export const others: Program[] = [
  {
    name: "@octokit/core",
    text: `import { Octokit } from "@octokit/core"; const client = new Octokit({ auth: ${key}, request: { fetch: ${answer("{}")} } });`,
    call: 'await client.request("GET /user");',
  },
  {
    name: "@slack/web-api",
    text: `import { WebClient } from "@slack/web-api"; const client = new WebClient(${key});`,
  },
  {
    name: "openai",
    text: `import OpenAI from "openai"; const client = new OpenAI({ apiKey: ${key}, fetch: ${answer("{}")} });`,
    call: 'await client.models.retrieve("m");',
  },
  {
    name: "stripe",
    text: `import Stripe from "stripe"; const client = new Stripe(${key}, { httpClient: Stripe.createFetchHttpClient(${answer("{}")}) });`,
    call: 'await client.customers.create({ email: "ada@example.com" });',
  },
  {
    name: "@anthropic-ai/sdk",
    text: `import Anthropic from "@anthropic-ai/sdk"; const client = new Anthropic({ apiKey: ${key}, fetch: ${answer("{}")} });`,
    call: 'await client.models.retrieve("m");',
  },
  {
    name: "klaviyo-api",
    text: `import { ApiKeySession, ProfilesApi } from "klaviyo-api"; const client = new ProfilesApi(new ApiKeySession(${key}));`,
  },
].flatMap(({ name, text, call }) => [
  { name, from: name, text },
  ...(call === undefined ? [] : [{ name: `${name}, and a call`, from: name, text: text + call }]),
]);
