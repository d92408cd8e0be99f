import { Converter, DeclarationReflection, ReflectionKind } from "typedoc";

/** @type {Partial<import("typedoc").TypeDocOptions>} */
const options = {
  name: "audience-sdk",
  // The doors of package.json.
  entryPoints: [
    "src/index.ts",
    "src/schemas.ts",
    "src/mock/index.ts",
    "src/mock/msw.ts",
    "src/redis/index.ts",
    "src/checkpoint/index.ts",
  ],
  out: ".docs",
  readme: "README.md",
  excludeInternal: true,
  excludePrivate: true,
  // Links into a repository that not every clone knows.
  disableSources: true,
  treatWarningsAsErrors: true,
  // What is not exported is shown where it is used: the surface is listed by hand, in the sources.
  validation: { notExported: false, invalidLink: true, notDocumented: true },
  plugin: [excuseUnnamed],
};

export default options;

/**
 * A field of a type without a name of its own, `{ limit: number }`, is told by the comment of whatever has that type;
 * so are the fields of the schemas, whose names and rules stand in the types beside them.
 *
 * @param {import("typedoc").Application} app
 */
function excuseUnnamed(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const fields = project.getReflectionsByKind(ReflectionKind.Property);
    const bare = fields.filter((field) => !field.hasComment() && isOfUnnamed(field));
    app.options.setValue("intentionallyNotDocumented", [
      ...new Set(bare.map((one) => one.getFriendlyFullName())),
    ]);
  });
}

/** @param {import("typedoc").Reflection} field */
function isOfUnnamed(field) {
  const holders = [];
  for (let holder = field.parent; holder !== undefined; holder = holder.parent) holders.push(holder);
  // TypeDoc asks for no comment on what a parameter has.
  if (holders.some((holder) => holder.kindOf(ReflectionKind.Parameter))) return false;
  const type = holders.find((holder) => holder.kindOf(ReflectionKind.TypeLiteral));
  const alias = type?.parent;
  // Named is what is all that an alias stands for; of a union or an intersection it is a part.
  const isNamed = alias instanceof DeclarationReflection && alias.kindOf(ReflectionKind.TypeAlias);
  return type !== undefined && !(isNamed && alias.type?.type === "reflection");
}
