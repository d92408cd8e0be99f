import { Converter, DeclarationReflection, ReflectionKind } from "typedoc";

/** @type {Partial<import("typedoc").TypeDocOptions>} */
const options = {
  name: "audience-sdk",
  // The entry points of package.json.
  entryPoints: [
    "src/index.ts",
    "src/schemas.ts",
    "src/mock/index.ts",
    "src/mock/msw.ts",
    "src/redis/redis-rate-limit-store.ts",
    "src/checkpoint/file-checkpoint.ts",
    "src/snapshot/index.ts",
  ],
  out: ".docs",
  readme: "README.md",
  projectDocuments: ["examples/guides/*.md", "src/DECISIONS.md", "CHANGELOG.md"],
  highlightLanguages: [
    "bash",
    "csv",
    "javascript",
    "json",
    "mermaid",
    "python",
    "sql",
    "toml",
    "tsx",
    "typescript",
    "yaml",
  ],
  excludeInternal: true,
  excludePrivate: true,
  // No links to a repository, because not every clone has one.
  disableSources: true,
  treatWarningsAsErrors: true,
  // Types that are not exported are shown where they are used: the exports are listed by hand.
  validation: { notExported: false, invalidLink: true, notDocumented: true },
  plugin: [ignoreUnnamed, nameDocuments],
};

export default options;

/**
 * The fields of an unnamed type, `{ limit: number }`, are documented by the comment of its owner; those of the schemas by
 * the types beside them.
 *
 * @param {import("typedoc").Application} app
 */
function ignoreUnnamed(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const fields = project.getReflectionsByKind(ReflectionKind.Property);
    const bare = fields.filter((field) => !field.hasComment() && isOfUnnamed(field));
    app.options.setValue("intentionallyNotDocumented", [
      ...new Set(bare.map((one) => one.getFriendlyFullName())),
    ]);
  });
}

/**
 * A document is named as its heading says, not as its file. Code in headings becomes text, as TypeDoc leaves it out of the
 * anchors that the guides link to.
 *
 * @param {import("typedoc").Application} app
 */
function nameDocuments(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    let line = "";
    for (const part of document.content) {
      if (part.kind === "code" && /^#+ /.test(line)) part.text = part.text.replaceAll("`", "");
      line = `${line}${part.text}`.split("\n").at(-1) ?? "";
    }
    const text = document.content.map((part) => part.text).join("");
    const [heading = "", name] = /^\s*# (.+)\n/.exec(text) ?? [];
    if (name === undefined) return;
    document.name = name;
    let left = heading.length;
    for (const part of document.content) {
      const cut = Math.min(left, part.text.length);
      part.text = part.text.slice(cut);
      left -= cut;
    }
    document.content = document.content.filter((part) => part.text !== "");
  });
}

/** @param {import("typedoc").Reflection} field */
function isOfUnnamed(field) {
  const holders = [];
  for (let holder = field.parent; holder !== undefined; holder = holder.parent) holders.push(holder);
  // TypeDoc requires no comment on the fields of a parameter.
  if (holders.some((holder) => holder.kindOf(ReflectionKind.Parameter))) return false;
  const type = holders.find((holder) => holder.kindOf(ReflectionKind.TypeLiteral));
  const alias = type?.parent;
  // Named only if the alias stands for the whole type, not for a union or an intersection with it.
  const isNamed = alias instanceof DeclarationReflection && alias.kindOf(ReflectionKind.TypeAlias);
  return type !== undefined && !(isNamed && alias.type?.type === "reflection");
}
