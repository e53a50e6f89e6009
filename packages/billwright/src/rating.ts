/**
 * `billwright/rating`: calculates the exact price of a quantity under a charge of a plan, with every step of the
 * calculation. It is meant for pricing pages and calculators: it runs in browsers, and needs neither Node nor a
 * store. Amounts are integers of the minor unit, in `bigint`; prices and rates are decimals in strings.
 * `docs/pricing.md` has the models, the order of steps, and the rules of rounding and tiers.
 */
export * from "@billwright/engine/rating"
