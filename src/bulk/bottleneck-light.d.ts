// The build without Redis has no types of its own.
declare module "bottleneck/light.js" {
  export { default } from "bottleneck";
}
