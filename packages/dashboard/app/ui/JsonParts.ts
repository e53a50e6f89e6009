/**
 * Splits JSON into parts, so that they can have different colours.
 */

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g
/** A longer text is shown without colours, because a hundred thousand parts would make the page slow. */
const MAX_COLOURED_LENGTH = 20_000

interface Part {
  readonly text: string
  readonly kind: "key" | "string" | "literal" | "plain"
}

/** Splits JSON into parts. All parts together are the text. */
export const partsOf = (text: string): ReadonlyArray<Part> => {
  if (text.length > MAX_COLOURED_LENGTH) return [{ text, kind: "plain" }]
  const parts: Array<Part> = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), kind: "plain" })
    const isString = match[1] !== undefined
    const kind = isString ? (match[2] === undefined ? "string" : "key") : "literal"
    parts.push({ text: match[0], kind })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), kind: "plain" })
  return parts
}
