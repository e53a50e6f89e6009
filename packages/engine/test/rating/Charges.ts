/**
 * Generated charges of every model, for properties.
 */
import type { Charge, PackageTier, PercentageTier, Prices, Tier } from "../../src/rating/index.ts"
import { decimals, fc } from "../property.ts"
import { CURRENCY } from "./Oracle.ts"

const prices: fc.Arbitrary<Prices> = decimals(3, 6).map((price) => ({ [CURRENCY]: price }))
const positive = decimals(3, 2).filter((text) => Number(text) > 0)
const percent = decimals(2, 3)

/** Up to five tiers, whose ends rise. `rest` is what a tier has besides. */
const tiersOf = <T extends object>(
  rest: fc.Arbitrary<T>,
): fc.Arbitrary<ReadonlyArray<T & { readonly up_to?: string }>> =>
  fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 1, max: 40_000 }), { maxLength: 4 }),
      fc.array(rest, { minLength: 5, maxLength: 5 }),
    )
    .map(([ends, rests]) => {
      const hundredths = ends.toSorted((a, b) => a - b)
      return rests.slice(0, ends.length + 1).map((one, index) => {
        const end = hundredths[index]
        return Object.assign({}, one, end === undefined ? {} : { up_to: `${end / 100}` })
      })
    })

const optional = <K extends string, T>(key: K, arbitrary: fc.Arbitrary<T>) =>
  fc
    .option(arbitrary, { nil: undefined })
    .map((value) => (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: T })

const tier: fc.Arbitrary<Tier> = fc
  .tuple(optional("price", prices), optional("flat", prices))
  .map(([a, b]) => ({ ...a, ...b }))
const packageTier: fc.Arbitrary<PackageTier> = fc
  .tuple(tier, positive)
  .map(([one, size]) => ({ ...one, size }))
const percentageTier: fc.Arbitrary<PercentageTier> = fc
  .tuple(optional("rate", percent), optional("flat", prices))
  .map(([a, b]) => ({ ...a, ...b }))

/** A least and a most, of which the least is not more. */
const bounds = <A extends string, B extends string>(least: A, most: B) =>
  fc.tuple(fc.boolean(), fc.boolean(), prices, prices).map(([hasLeast, hasMost, a, b]) => {
    const [low, high] = Number(a[CURRENCY]) <= Number(b[CURRENCY]) ? [a, b] : [b, a]
    return { ...(hasLeast ? { [least]: low } : {}), ...(hasMost ? { [most]: high } : {}) } as {
      readonly [K in A | B]?: Prices
    }
  })

const models: ReadonlyArray<fc.Arbitrary<object>> = [
  prices.map((price) => ({ model: "unit", price })),
  fc.tuple(prices, positive).map(([price, size]) => ({ model: "package", price, size })),
  tiersOf(tier).map((tiers) => ({ model: "graduated", tiers })),
  tiersOf(tier).map((tiers) => ({ model: "volume", tiers })),
  tiersOf(packageTier).map((tiers) => ({ model: "graduated_package", tiers })),
  tiersOf(percentageTier).map((tiers) => ({ model: "graduated_percentage", tiers })),
  fc
    .tuple(percent, optional("flat", prices), bounds("minimum_per_record", "maximum_per_record"))
    .map(([rate, flat, each]) => ({ model: "percentage", rate, ...flat, ...each })),
]

const convert = fc.record({
  divide_by: positive,
  round: fc.constantFrom("up", "down", "half_up", "none"),
})

/** A charge with a quantity, of any model, with anything that charges may have. */
export const quantityCharges: fc.Arbitrary<Charge> = fc
  .tuple(
    fc.oneof(...models),
    optional("free", decimals(3, 2)),
    optional("convert", convert),
    bounds("minimum", "maximum"),
    fc.constantFrom({}, { timing: "advance" }, { timing: "arrears" }, { quantity: "seats" }),
  )
  .map((parts) => Object.assign({ key: "charge" }, ...parts) as Charge)

/** A flat fee. */
export const flatCharges: fc.Arbitrary<Charge> = fc
  .tuple(prices, bounds("minimum", "maximum"))
  .map(([price, each]) => ({ key: "charge", model: "flat", price, ...each }))

/** Any charge; models with a quantity more often. */
export const charges: fc.Arbitrary<Charge> = fc.oneof(
  { weight: 7, arbitrary: quantityCharges },
  { weight: 1, arbitrary: flatCharges },
)

/** A part of a period. */
export const shares = fc
  .tuple(fc.bigInt({ min: 0n, max: 366n }), fc.bigInt({ min: 1n, max: 366n }))
  .map(([a, b]): readonly [bigint, bigint] => (a <= b ? [a, b] : [b, a]))
