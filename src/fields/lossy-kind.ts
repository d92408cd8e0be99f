const lossyKinds = new Set(
  (
    "Map Set WeakMap WeakSet WeakRef Date RegExp Error Promise " +
    "String Number Boolean BigInt Symbol ArrayBuffer SharedArrayBuffer DataView"
  ).split(" "),
);

/** The kind of an object that looks like one but holds its content elsewhere, so that JSON would lose it: `a Map`. */
export function lossyKind(value: object): string | undefined {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  // What has a kind of its own and shows nothing, such as a FormData or an AbortSignal, keeps what it holds to itself.
  const isClosed = kind !== "Object" && Object.keys(value).length === 0;
  if (isClosed || ArrayBuffer.isView(value) || lossyKinds.has(kind))
    return /^[AEIO]/.test(kind) ? `an ${kind}` : `a ${kind}`;
  return undefined;
}
