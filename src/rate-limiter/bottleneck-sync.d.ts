// bottleneck ships no types for its parts; these are what the waiting line uses of this one.
declare module "bottleneck/lib/Sync.js" {
  export default class Sync {
    constructor(name: string, promise: PromiseConstructor);
    /** Runs one job after the other: the first at once, each of the others when the one before it has ended. */
    schedule<R>(job: () => Promise<R>): Promise<R>;
  }
}
