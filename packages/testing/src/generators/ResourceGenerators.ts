/**
 * Generators of a resource's values, derived from its definition.
 */
import type { Field, Resource } from "@billwright/core"
import { Schema } from "effect"
import * as fc from "fast-check"
import { idOf, metadata } from "./CustomerGenerators.ts"
import { text } from "./TextGenerators.ts"
import { instant } from "./TimeGenerators.ts"

/** The limits of exact integers in a double, and those of machine integers. */
const BORDERS = [2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n]
const DEFAULT_BOUNDS = { minimum: -(2n ** 64n), maximum: 2n ** 64n }

/** Integers within bounds: often small ones, the bounds themselves, and the limits of machine integers. */
const integer = ({ bounds = { ...DEFAULT_BOUNDS, problem: "" } }: Field.Field): fc.Arbitrary<bigint> => {
  const { maximum, minimum } = bounds
  const inside = BORDERS.filter((border) => minimum <= border && border <= maximum)
  const small = minimum + 99n
  return fc.oneof(
    fc.bigInt({ min: minimum, max: small < maximum ? small : maximum }),
    fc.constantFrom(minimum, maximum, ...inside),
    fc.bigInt({ min: minimum, max: maximum }),
  )
}

/** The longest generated text where the Schema's limit is not lower. */
const LONGEST_TEXT = 100

/** The literals of the Schema, or text that it accepts. */
const textOf = ({ schema }: Field.Field): fc.Arbitrary<string> => {
  if ("literals" in schema) return fc.constantFrom(...(schema.literals as ReadonlyArray<string>))
  return fc
    .integer({ min: 1, max: LONGEST_TEXT })
    .chain((length) => text(1, length))
    .filter(Schema.is(schema as Schema.Schema<string>))
}

const required = (field: Field.Field): fc.Arbitrary<unknown> => {
  switch (field.kind) {
    case "id":
      return idOf(field.prefix ?? "")
    case "integer":
      return integer(field)
    case "instant":
      return instant
    case "text":
      return textOf(field)
    case "json":
      return metadata
  }
}

/** Values of a resource. Fields of the kind `json` hold metadata. */
export const resource = <D extends Resource.Definition>(
  definition: Resource.Resource<D>,
): fc.Arbitrary<Resource.ValueOf<Resource.Resource<D>>> => {
  const { fields, prefix, times }: Resource.Definition = definition
  const generators = Object.entries({ ...fields, ...times }).map(
    ([name, field]) => [name, field.isNullable ? fc.option(required(field)) : required(field)] as const,
  )
  const made: fc.Arbitrary<object> = fc.record({ id: idOf(prefix), ...Object.fromEntries(generators) })
  return made as fc.Arbitrary<Resource.ValueOf<Resource.Resource<D>>>
}
