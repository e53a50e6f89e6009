/**
 * What `NOTIFY` says of commits, in this library and in the functions of the database.
 */

/** The channel. A payload begins with the name of the schema and a space: see `read`. */
export const CHANNEL = "billwright"

/** The rest of the payload of a notification that was made in the transaction itself. */
export const IN_TRANSACTION = "transaction"

/** The setting of a session or a transaction whose commits are announced, so that functions don't do it. */
export const ANNOUNCES = "billwright.announces"

/** A queue of notifications that is fuller than this is left alone: once it is full, commits with `NOTIFY` fail. */
export const MAX_QUEUE_USAGE = 0.5

/** What a notification says. */
export interface Notice {
  /** The process that has committed, or `IN_TRANSACTION`. */
  readonly sender: string
  /** Whether deliveries may be due that nobody has: `due`, or only `events`. */
  readonly news: "due" | "events"
  /** The worker to which deliveries were leased, and these. */
  readonly worker: string | undefined
  readonly handed: ReadonlyArray<Handed>
}

/** A delivery that was leased to a worker. */
export interface Handed {
  readonly worker: string
  /** The UUID of its id. */
  readonly id: string
  /** Where its row is in the table. */
  readonly place: string
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A `tid` of a table of up to 8 TB. */
const PLACE = /^\(\d{1,9},\d{1,4}\)$/

/**
 * Reads a payload, which anybody may have sent who can log in to the database: the schema, the sender, the news, the worker, and then an id and a place in turn. Older processes name only
 * the first two. `undefined`: it is about another schema.
 */
export const read = (schema: string, payload: string): Notice | undefined => {
  const [its, sender, news, worker, ...rest] = payload.split(" ")
  if (its !== schema || sender === undefined) return undefined
  const handed: Array<Handed> = []
  if (worker !== undefined) {
    for (let i = 0; i + 1 < rest.length; i += 2) {
      const [id, place] = rest.slice(i, i + 2) as [string, string]
      if (UUID.test(id) && PLACE.test(place)) handed.push({ worker, id, place })
    }
  }
  return { sender, news: news === "events" ? "events" : "due", worker, handed }
}
