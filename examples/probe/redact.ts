/** What stands in the way of printing a string of the service: keys, e-mail addresses, phone numbers. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  // Eight characters of a key are as good as the key.
  const pieces = secrets.flatMap((secret = "") =>
    secret.length <= 8
      ? [secret]
      : Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)),
  );
  return (text) => {
    let shown = text;
    for (const secret of secrets) if (secret) shown = shown.replaceAll(secret, "[key]");
    for (const piece of pieces) if (piece) shown = shown.replaceAll(piece, "[key]");
    return shown
      .replace(/[^\s@"'<>(){},:]+@[^\s@"'<>(){},]+/g, "[e-mail]")
      .replace(/(?<![\w-])(?!\d{4}-\d\d-\d\d)\+?\d(?:[ .-]?[()]?\d|\)[ .-]?\d){6,}(?![\w-])/g, "[number]")
      .replace(/\p{Cc}/gu, "\ufffd");
  };
}
