// bottleneck ships no types for its build without `eval`; these are the parts that the waiting line uses.
declare module "bottleneck/light.js" {
  export default class Bottleneck {
    constructor(options: { reservoir: number });
    schedule<R>(job: () => Promise<R>): Promise<R>;
    incrementReservoir(by: number): Promise<number>;
  }
}
