/**
 * `billwright/rating`: what a quantity costs by a charge of a plan, exactly, with every step that leads there. For
 * pricing pages and calculators: it runs in a browser, and needs neither Node nor a store.
 */
export * from "@billwright/engine/rating"
