import type { World } from "./world.ts";
export function check(_world: World): string[] { return []; }
