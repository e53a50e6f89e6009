/**
 * Flat maps whose keys the caller chooses.
 */
import { Schema } from "effect"
import * as Text from "./Text.ts"

/** A map with a limited number of keys, each of 1 to `keyLength` code points and none of them `__proto__`. */
export const make = <Value extends Schema.Top>(
  value: Value,
  { keyLength, keys }: { readonly keys: number; readonly keyLength: number },
) => {
  // In many programs that read such a map, assigning to `__proto__` would set a prototype instead of a key.
  const Key = Text.bounded(1, keyLength).check(
    Schema.makeFilter((key: string) => key !== "__proto__", {
      message: "must not be __proto__",
      toJsonSchema: () => ({ pattern: String.raw`^[^\x00]+$`, not: { const: "__proto__" } }),
    }),
  )
  // The keys are checked by a check of the record. With a key Schema, a refused key would be dropped or be reported as
  // an unknown field.
  return Schema.Record(Schema.String, value).check(
    Schema.isMaxProperties(keys, { message: `must have at most ${keys} keys` }),
    Schema.isPropertyNames(Key, {
      message: `is not a possible key: 1 to ${keyLength} characters, no NUL or lone surrogate, not __proto__`,
    }),
  )
}
