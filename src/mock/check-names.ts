/** Refuses unknown names: a misspelt option would silently have its default. */
export function checkNames(subject: string, given: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !names.includes(name))
      throw new TypeError(`${subject}: "${name}" is none of ${names.join(", ")}`);
}
