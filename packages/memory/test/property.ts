/** The share of the inputs of a property that is tried. `npm run test:suites` tries all of them. */
const SHARE = Number(process.env["PROPERTY_SHARE"] ?? "0.1")

/** How many of the inputs are tried. */
export const runs = (all: number): number => Math.ceil(all * SHARE)
