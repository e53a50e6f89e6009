/**
 * What `NOTIFY` says of commits, in this library and in the functions of the database.
 */

/** The channel. A payload begins with the name of the schema and a space. */
export const CHANNEL = "billwright"

/** The rest of the payload of a notification that was made in the transaction itself. */
export const IN_TRANSACTION = "transaction"

/** The setting of a session or a transaction whose commits are announced, so that functions don't do it. */
export const ANNOUNCES = "billwright.announces"

/** A queue of notifications that is fuller than this is left alone: once it is full, commits with `NOTIFY` fail. */
export const MAX_QUEUE_USAGE = 0.5

/**
 * A column of a statement that notifies of its own commit, if `condition` is true. `notice` is the parameter with the payload; if
 * it is null, nothing is notified.
 */
export const notifying = (notice: string, condition: string): string =>
  `case when ${notice}::text is not null and ${condition} and pg_notification_queue_usage() <= ${MAX_QUEUE_USAGE}
    then pg_notify('${CHANNEL}', ${notice}::text)::text end as notice`
