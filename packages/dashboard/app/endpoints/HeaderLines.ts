/**
 * Headers as lines of text: `name: value`.
 */

/** Parses headers, with lower-case names. `undefined` if a line is malformed. */
export const parse = (text: string): Record<string, string> | undefined => {
  const headers: Record<string, string> = {}
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue
    const colon = line.indexOf(":")
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon < 1 || name === "") return undefined
    headers[name] = line.slice(colon + 1).trim()
  }
  return headers
}
