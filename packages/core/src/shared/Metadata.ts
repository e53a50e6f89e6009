/**
 * Free-form key/value pairs that callers add to their objects. The library never reads them.
 */
import { Schema } from "effect"
import * as Text from "./Text.ts"

/** Most keys of one object's metadata. */
export const MAX_METADATA_KEYS = 50
/** Longest metadata key, in code points. */
export const MAX_METADATA_KEY_LENGTH = 40
/** Longest metadata value, in code points. */
export const MAX_METADATA_VALUE_LENGTH = 500

// In many programs that read the metadata, assigning to `__proto__` would set a prototype instead of a key.
const Key = Text.bounded(1, MAX_METADATA_KEY_LENGTH).check(
  Schema.makeFilter((key: string) => key !== "__proto__", {
    message: "must not be __proto__",
    toJsonSchema: () => ({ pattern: String.raw`^[^\x00]+$`, not: { const: "__proto__" } }),
  }),
)
const Value = Text.bounded(0, MAX_METADATA_VALUE_LENGTH)

const atMostKeys = Schema.isMaxProperties(MAX_METADATA_KEYS, {
  message: `must have at most ${MAX_METADATA_KEYS} keys`,
})

// The keys are checked by a check of the record. With a key Schema, a refused key would be dropped or be reported as
// an unknown field.
const allowedKeys = Schema.isPropertyNames(Key, {
  message: `is not a possible key: 1 to ${MAX_METADATA_KEY_LENGTH} characters, no NUL or lone surrogate, not __proto__`,
})

/** At most 50 keys of 1 to 40 characters with values of at most 500 characters. */
export const Metadata = Schema.Record(Schema.String, Value).check(atMostKeys, allowedKeys)
export type Metadata = typeof Metadata.Type

/** A change of metadata. A string sets a key, `null` removes it, and keys that are not named stay as they are. */
export const MetadataPatch = Schema.Record(Schema.String, Schema.NullOr(Value)).check(atMostKeys, allowedKeys)
export type MetadataPatch = typeof MetadataPatch.Type

/** Applies a change; `null` removes all keys. The result may have too many keys: decode it with `Metadata`. */
export const patch = (metadata: Metadata, change: MetadataPatch | null): Record<string, string> => {
  if (change === null) return {}
  const result: Record<string, string> = { ...metadata }
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key]
    else result[key] = value
  }
  return result
}
