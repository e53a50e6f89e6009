/**
 * Generators of a resource's values, derived from its definition.
 */
import { type Field, Metadata, type Resource } from "@billwright/core"
import { DateTime, Schema } from "effect"
import * as fc from "fast-check"
import { exampleOf } from "../Sample.ts"
import { idOf, metadata } from "./CustomerGenerators.ts"
import { codePoint, text } from "./TextGenerators.ts"
import { instant, LAST_INSTANT } from "./TimeGenerators.ts"

/** The limits of exact integers in a double, and those of machine integers. */
const BORDERS = [2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n]
const DEFAULT_BOUNDS = { minimum: -(2n ** 64n), maximum: 2n ** 64n }

/** Integers within bounds: often small ones, the bounds themselves, and the limits of machine integers. */
const integer = ({
  bounds = { ...DEFAULT_BOUNDS, problem: "" },
  schema,
}: Field.Field): fc.Arbitrary<bigint> => {
  const { maximum, minimum } = bounds
  const isValid = Schema.is(schema)
  const inside = BORDERS.filter((border) => minimum <= border && border <= maximum)
  const small = minimum + 99n
  return fc
    .oneof(
      fc.bigInt({ min: minimum, max: small < maximum ? small : maximum }),
      fc.constantFrom(minimum, maximum, ...inside),
      fc.bigInt({ min: minimum, max: maximum }),
    )
    .filter((value) => isValid(value))
}

/** The characters of texts that can't have every character. */
const SIMPLE = "abcdefghijklmnopqrstuvwxyz0123456789_-"

/** Of a text without a limit, this many code points are tried, rounded up to a power of two. */
const LONGEST_TEXT = 10_000

/** The most repeats of a character before an ending that are still valid. */
const repeats = (isValid: (text: string) => boolean, character: string, ending: string): string => {
  let count = 0
  for (let step = 2 ** Math.ceil(Math.log2(LONGEST_TEXT)); step >= 1; step /= 2) {
    if (isValid(character.repeat(count + step) + ending)) count += step
  }
  return character.repeat(count) + ending
}

/** What texts of a field can be: any text, any text before the example if the field has a pattern, or else the example. */
const shapeOf = ({ schema }: Field.Field, example: string) => {
  const isValid = Schema.is(schema as Schema.Schema<string>)
  const [isAny, isBefore] = [isValid("aaaa"), isValid(`a${example}`)]
  const ending = isAny ? "" : example
  const isFilled = isValid(`𝒩𝒩𝒩𝒩${ending}`)
  const longest = isAny || isBefore ? repeats(isValid, isFilled ? "𝒩" : "a", ending) : example
  return { isValid, isAny, isBefore, isFilled, ending, longest }
}

/** Texts of a field. If they can be any text, but not of any characters, they are of simple ones. */
const textOf = (field: Field.Field, example: string): fc.Arbitrary<string> => {
  const { ending, isAny, isBefore, isFilled, isValid, longest } = shapeOf(field, example)
  const maxLength = [...longest].length
  const unfiltered = () => {
    if (isAny && isFilled) return text(1, maxLength)
    if (isAny) {
      const unit = fc.constantFrom(...SIMPLE).filter((character) => isValid(`a${character}`))
      return fc.string({ unit, minLength: 1, maxLength })
    }
    if (!isBefore) return fc.constant(example)
    const unit = codePoint.filter((character) => isValid(character + ending))
    return fc.string({ unit, maxLength: 12 }).map((beginning) => beginning + ending)
  }
  return unfiltered().filter(isValid)
}

const required = (resource: Resource.Definition, name: string, field: Field.Field): fc.Arbitrary<unknown> => {
  switch (field.kind) {
    case "id":
      return idOf(field.prefix ?? "")
    case "integer":
      return integer(field)
    case "instant":
      return instant
    case "text":
      return "literals" in field.schema
        ? fc.constantFrom(...(field.schema.literals as ReadonlyArray<string>))
        : textOf(field, String(exampleOf(resource, name, field)))
    case "json":
      return isMetadata(field) ? metadata : fc.constant(exampleOf(resource, name, field))
  }
}

/** Whether a field of JSON takes any metadata. */
const isMetadata = ({ schema }: Field.Field): boolean => Schema.is(schema)(LONGEST_METADATA)

/** Values of a resource. Fields of JSON with a structure of their own have the value of the example. */
export const resource = <D extends Resource.Definition>(
  definition: Resource.Resource<D>,
): fc.Arbitrary<Resource.ValueOf<Resource.Resource<D>>> => {
  const { fields, prefix, times }: Resource.Definition = definition
  const generators = Object.entries({ ...fields, ...times }).map(([name, field]) => {
    const value = required(definition, name, field)
    return [name, field.isNullable ? fc.option(value) : value] as const
  })
  const made: fc.Arbitrary<object> = fc.record({ id: idOf(prefix), ...Object.fromEntries(generators) })
  return made as fc.Arbitrary<Resource.ValueOf<Resource.Resource<D>>>
}

const LONGEST_METADATA = Object.fromEntries(
  Array.from({ length: Metadata.MAX_METADATA_KEYS }, (_, index) => [
    `${String(index).padStart(2, "0")}${"🗝".repeat(Metadata.MAX_METADATA_KEY_LENGTH - 2)}`,
    "🂡".repeat(Metadata.MAX_METADATA_VALUE_LENGTH),
  ]),
)

const longestOf = (resource: Resource.Definition, name: string, field: Field.Field): unknown => {
  switch (field.kind) {
    case "id":
      return undefined
    case "integer":
      return (field.bounds ?? DEFAULT_BOUNDS).maximum
    case "instant":
      return DateTime.makeUnsafe(LAST_INSTANT)
    case "text":
      return "literals" in field.schema
        ? undefined
        : shapeOf(field, String(exampleOf(resource, name, field))).longest
    case "json":
      return isMetadata(field) ? LONGEST_METADATA : undefined
  }
}

/** The longest value of each field that has one, and the latest instants. */
export const longest = (resource: Resource.Definition): object =>
  Object.fromEntries(
    Object.entries({ ...resource.fields, ...resource.times })
      .map(([name, field]) => [name, longestOf(resource, name, field)] as const)
      .filter(([, value]) => value !== undefined),
  )
