/**
 * Free-form key/value pairs that callers add to their objects. The library never reads them.
 */
import { Schema } from "effect"
import * as Text from "./Text.ts"
import * as TextMap from "./TextMap.ts"

/** Most keys of one object's metadata. */
export const MAX_METADATA_KEYS = 50
/** Longest metadata key, in code points. */
export const MAX_METADATA_KEY_LENGTH = 40
/** Longest metadata value, in code points. */
export const MAX_METADATA_VALUE_LENGTH = 500

const Value = Text.bounded(0, MAX_METADATA_VALUE_LENGTH)

const LIMITS = { keys: MAX_METADATA_KEYS, keyLength: MAX_METADATA_KEY_LENGTH }

/** At most 50 keys of 1 to 40 characters with values of at most 500 characters. */
export const Metadata = TextMap.make(Value, LIMITS)
export type Metadata = typeof Metadata.Type

/** A change of metadata. A string sets a key, `null` removes it, and keys that are not named stay as they are. */
export const MetadataPatch = TextMap.make(Schema.NullOr(Value), LIMITS)
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
