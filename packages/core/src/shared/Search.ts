/**
 * Searching resources by a part of their text.
 */
import { Schema } from "effect"
import * as Text from "./Text.ts"

/** The shortest text to search for, in code points. Shorter texts occur in too many values. */
export const MIN_SEARCH_LENGTH = 3
/** The longest text to search for, in code points. */
export const MAX_SEARCH_LENGTH = 100

/** Normalizes text for the search, so that case and the encoding of accents don't matter. */
export const folded = (text: string): string => text.normalize("NFC").toLowerCase()

/** Text to search for: 3 to 100 characters. An accented letter counts as one. */
export const SearchText = Text.bounded(MIN_SEARCH_LENGTH, MAX_SEARCH_LENGTH).check(
  Schema.makeFilter<string>((text) => [...folded(text)].length >= MIN_SEARCH_LENGTH, {
    message: `must be ${MIN_SEARCH_LENGTH} to ${MAX_SEARCH_LENGTH} characters`,
    toJsonSchema: () => ({}),
  }),
)
