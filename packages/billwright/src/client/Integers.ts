/**
 * The integers of answers. Small ones arrive as numbers.
 */
type BigIntFields<A> = { [Name in keyof A]: A[Name] extends bigint | null ? Name : never }[keyof A]

/** The names of the fields that are `bigint`. The compiler checks that the list is complete. */
export type IntegersOf<A> = { readonly [Name in BigIntFields<A>]: true }

/** Makes the function that converts these fields of an answer to `bigint`. */
export const withIntegers =
  <A extends object>(integers: IntegersOf<A>) =>
  (sent: A): A => {
    const value: Record<string, unknown> = { ...(sent as object) }
    for (const name of Object.keys(integers)) {
      const sentValue = value[name] as number | bigint | null
      value[name] = sentValue === null ? null : BigInt(sentValue)
    }
    return value as A
  }
