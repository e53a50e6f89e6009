/**
 * The parts of commands.
 */
import * as fc from "fast-check"

/** One of three tenants: mostly the test's own, otherwise one of the two most similar to it. */
export const tenant = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constant(2) },
)
// Mostly low numbers, so that commands often act on the same thing.
export const thing = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 2 }) },
  { weight: 1, arbitrary: fc.nat({ max: 7 }) },
)
export const day = fc.nat({ max: 4 })

export const page = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  cursor: fc.option(fc.record({ direction: fc.constantFrom<"older" | "newer">("older", "newer"), thing }), {
    freq: 3,
  }),
})

type ValuesOf<Fields> = { readonly [K in keyof Fields]: Fields[K] extends fc.Arbitrary<infer A> ? A : never }

/** A command for a tenant. */
export const command = <Name extends string, Fields extends Record<string, object>>(
  name: Name,
  fields: Fields,
) => {
  const model = { command: fc.constant(name), tenant, ...fields } as Record<string, fc.Arbitrary<unknown>>
  return fc.record(model) as unknown as fc.Arbitrary<
    { readonly command: Name; readonly tenant: number } & ValuesOf<Fields>
  >
}
