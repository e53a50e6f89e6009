/**
 * Converts a receiver's answer to text. Core limits and cleans the text before it is stored.
 */
import { MAX_KEPT_RESPONSE_BYTES } from "@billwright/core"

/** Decodes whole bodies, so it keeps nothing between two of them. */
const decoder = new TextDecoder()

/** The first `MAX_KEPT_RESPONSE_BYTES` of a body as text. Bytes that are not UTF-8 become U+FFFD. */
export const fromBody = (chunks: ReadonlyArray<Uint8Array>): string => {
  if (chunks.length === 0) return ""
  const bytes = Buffer.concat(chunks)
  if (bytes.length <= MAX_KEPT_RESPONSE_BYTES) return decoder.decode(bytes)
  // Decoded as a stream, so that a character that is cut in two is left out instead of replaced.
  return new TextDecoder().decode(bytes.subarray(0, MAX_KEPT_RESPONSE_BYTES), { stream: true })
}

/** Headers as text. Bytes beyond ASCII are read as Latin-1, as older versions of HTTP define. */
export const fromHeaders = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? value : (value ?? []).join(", "),
    ]),
  )
