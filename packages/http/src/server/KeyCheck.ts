/**
 * Whether the key of an answer is still valid, while the answer is sent. An answer in pieces may take longer than its key lives.
 */
import { Clock, Effect, Exit, Stream } from "effect"
import type { Verify } from "./Bearer.ts"
import type { HttpResponse } from "./HttpExchange.ts"

/**
 * How often the key is checked. Together with the time that a look-up is cached, an answer ends at most 4 s after
 * its key.
 */
const CHECK_MILLIS = 1_000

const YES = Exit.succeed(true)

/** A key counts as ended only when it is refused. When the storage doesn't answer, the answer goes on. */
const isNotRefused = (verify: Verify): Effect.Effect<boolean> =>
  verify.pipe(
    Effect.as(true),
    Effect.catchTag("Unauthorized", () => Effect.succeed(false)),
    Effect.orElseSucceed(() => true),
  )

/** Makes the check of a key that was verified at this time. It looks at the key at most once a second. */
export const make = (verify: Verify, verifiedAt: number): ((now: number) => Effect.Effect<boolean>) => {
  let checkedAt = verifiedAt
  return (now) => {
    if (now - checkedAt < CHECK_MILLIS) return YES
    checkedAt = now
    return isNotRefused(verify)
  }
}

/** An answer was broken off, because its key has ended. */
class KeyEnded extends Error {
  override readonly name = "KeyEnded"

  constructor() {
    super("the API key has ended before the answer was complete")
  }
}

/**
 * Breaks off an answer in pieces when its key has ended. It must not end like a complete one. The key is checked after a
 * piece was read and before it is sent, because reading may have to wait.
 */
export const breakingOff = (answer: HttpResponse, verify: Verify, verifiedAt: number): HttpResponse => {
  const { stream } = answer
  if (stream === undefined) return answer
  const isStillValid = make(verify, verifiedAt)
  const check = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (!(yield* isStillValid(now))) return yield* Effect.die(new KeyEnded())
  })
  return { ...answer, stream: Stream.tap(stream, () => check) }
}
