/** Refuses a name that is none of `names`: a typing error in one would be taken for a default unheard. */
export function checkNames(subject: string, given: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !names.includes(name))
      throw new TypeError(`${subject}: "${name}" is none of ${names.join(", ")}`);
}
