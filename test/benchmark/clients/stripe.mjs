import Stripe from "stripe";

export function construct(baseUrl) {
  const { hostname, port } = new URL(baseUrl);
  return new Stripe("key-0123456789abcdef", { protocol: "http", host: hostname, port, telemetry: false });
}

export async function call(client) {
  return (await client.customers.create({ email: "ada@example.com", name: "Ada" })).id;
}

export function read(client) {
  return client.customers.list({ limit: 100 });
}
