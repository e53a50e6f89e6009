/**
 * Splits a stream of text into lines.
 */

/** A line without its line ending. A line that is too long has no text. */
export interface Line {
  readonly number: number
  readonly text: string | undefined
}

/** The longest line that is read. Web servers refuse much shorter requests (about 8 KiB for each header). */
export const MAX_LINE_LENGTH = 65_536

/**
 * Splits at `\n` and `\r\n`. It never keeps more than a chunk and a line in memory. The rest of a line that is too long is
 * dropped.
 */
export async function* splitLines(
  chunks: AsyncIterable<string> | Iterable<string>,
  maxLength = MAX_LINE_LENGTH,
): AsyncGenerator<Line> {
  let number = 0
  let rest = ""
  let isTooLong = false
  const finish = (end: string): Line => {
    const text = rest + end
    const line = {
      number: ++number,
      text: isTooLong || text.length > maxLength ? undefined : text.replace(/\r$/, ""),
    }
    rest = ""
    isTooLong = false
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
      yield finish(chunk.slice(start, end))
      start = end + 1
    }
    if (!isTooLong) rest += chunk.slice(start)
    if (rest.length > maxLength) {
      rest = ""
      isTooLong = true
    }
  }
  if (rest !== "" || isTooLong) yield finish("")
}
