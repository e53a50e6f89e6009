/**
 * `billwright/rating`: calculates the exact price of a quantity under a charge of a plan, with every step of the
 * calculation. It is meant for pricing pages and calculators: it runs in browsers, and needs neither Node nor a
 * store.
 */
export * from "@billwright/engine/rating"
