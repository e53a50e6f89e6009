/**
 * Reads a body as pieces of text that end with a separator. An unfinished piece at its end was cut off and is dropped.
 */
export const piecesOf = async function* (
  body: ReadableStream<Uint8Array>,
  separator: string,
): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader()
  let text = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text = (text + value).replaceAll("\r\n", "\n")
      const pieces = text.split(separator)
      text = pieces.pop() ?? ""
      yield* pieces
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The lines of a body. */
export const linesOf = (body: ReadableStream<Uint8Array>): AsyncGenerator<string> => piecesOf(body, "\n")
