import { ApiError } from "./ApiError.ts"
import { type Connection, WrongUrlError } from "./Connection.ts"
/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as far as the API sends them.
 */
import * as ExactJson from "./ExactJson.ts"
import { piecesOf } from "./Lines.ts"
import { delayAfter, wait } from "./RetryDelay.ts"
import { fromWire, toQuery } from "./WireNames.ts"

interface Message {
  readonly id: string
  readonly data: string
}

const toMessage = (block: string): Message | undefined => {
  let id = ""
  const data: Array<string> = []
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) id = line.slice(3).trim()
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart())
  }
  return data.length === 0 ? undefined : { id, data: data.join("\n") }
}

/** Whether a retry would get the same refusal. */
const isFinal = (error: unknown): boolean =>
  error instanceof WrongUrlError ||
  (error instanceof ApiError && delayAfter(1, new Response(null, { status: error.status })) === undefined)

/** Follows the stream. After a lost connection it reconnects and continues after the last event. */
export const follow = async function* <Event>(
  connection: Connection,
  query: { readonly types?: ReadonlyArray<string> | undefined; readonly after?: string | undefined },
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, never> {
  const path = `/events/stream${toQuery({ types: query.types?.join(",") })}`
  let lastId = query.after
  let failures = 0
  for (;;) {
    try {
      const response = await connection.open(path, lastId, signal)
      // Messages end with an empty line.
      for await (const block of piecesOf(response.body!, "\n\n")) {
        // A heartbeat shows, too, that the stream works. One that gave nothing is a failure, also when it ended well.
        failures = 0
        const message = toMessage(block)
        if (message === undefined) continue
        if (message.id !== "") lastId = message.id
        yield fromWire<Event>(ExactJson.parse(message.data))
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error)) throw error
    }
    failures++
    await wait(delayAfter(failures, undefined) ?? 0, signal)
  }
}
