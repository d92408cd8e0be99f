import type { TextField } from "./field.ts";
import { format } from "./format.ts";
import { text } from "./text.ts";

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const ipv6Group = /^[\da-f]{1,4}$/i;
const longestAddress = 45;

/** An IPv4 or IPv6 address, alone: no zone, no port, no prefix length. */
function isIpAddress(address: string): boolean {
  return address.length <= longestAddress && (ipv4.test(address) || isIpv6(address));
}

/** Eight groups, or fewer around one `::`; the last two may be written as an IPv4 address (RFC 4291, 2.2). */
function isIpv6(address: string): boolean {
  const gap = address.indexOf("::");
  if (gap === -1) return groupsOf(address, true) === 8;
  // A second `::` is an empty group in the tail.
  return groupsOf(address.slice(0, gap), false) + groupsOf(address.slice(gap + 2), true) <= 7;
}

/** How many groups a part has, an IPv4 address at the end counting as two; no number where it is malformed. */
function groupsOf(part: string, mayEndInIpv4: boolean): number {
  if (part === "") return 0;
  const groups = part.split(":");
  const endsInIpv4 = mayEndInIpv4 && ipv4.test(part.slice(part.lastIndexOf(":") + 1));
  const plain = endsInIpv4 ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => ipv6Group.test(group))) return Number.NaN;
  return plain.length + (endsInIpv4 ? 2 : 0);
}

const shown = { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] };

/** The IP address that consent was given from ("v2 identifier object"). */
export function ipAddress(): TextField {
  const message = "must be an IPv4 or IPv6 address, without zone, port or prefix length";
  return text([format({ name: "ip", shown, isValid: isIpAddress, message })]);
}
