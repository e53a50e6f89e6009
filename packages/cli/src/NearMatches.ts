/**
 * Suggests names for a mistyped one.
 */

/** The number of edits that turn one text into another (Levenshtein distance). */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

const MAX_MATCHES = 3

/** The most similar names, best first; empty when none is similar. */
export const find = (name: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const near = Math.max(2, Math.floor(name.length / 4))
  return names
    .map((known) => ({ known, edits: known.includes(name) ? 0 : distance(name.toLowerCase(), known) }))
    .filter(({ edits }) => edits <= near)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_MATCHES)
    .map(({ known }) => known)
}
