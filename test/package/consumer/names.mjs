// The exports of each entry, by `import` and by `require`.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const names = {};
for (const entry of process.argv.slice(2)) {
  names[entry] = [Object.keys(await import(entry)).sort(), Object.keys(require(entry)).sort()];
}
console.log(JSON.stringify(names));
