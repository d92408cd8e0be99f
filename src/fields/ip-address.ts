import type { TextField } from "./field.ts";
import { format } from "./format.ts";
import { text } from "./text.ts";

const ipv4Characters = /^[\d.]{7,15}$/;
const ipv6Characters = /^[\da-f:.]{2,45}$/i;

/** An IPv4 or IPv6 address, alone: no zone, no port, no prefix length. A URL names an IPv6 address in brackets. */
function isIpAddress(address: string): boolean {
  if (ipv4Characters.test(address)) return leadsTo(address) === address;
  return ipv6Characters.test(address) && leadsTo(`[${address}]`) !== undefined;
}

function leadsTo(host: string): string | undefined {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

const shown = { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] };

/** The IP address that consent was given from ("v2 identifier object"). */
/*! @__NO_SIDE_EFFECTS__ */
export function ipAddress(): TextField {
  const message = "must be an IPv4 or IPv6 address alone";
  return text([format({ name: "ip", shown, isValid: isIpAddress, message })]);
}
