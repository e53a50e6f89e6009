/**
 * What commands are made of.
 */
import * as fc from "fast-check"

/** Which of three tenants: the test's own most of the time, or one of the two nearest to it. */
export const tenant = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constant(2) },
)
// The first ones most of the time, so that commands meet at the same thing.
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
