/**
 * What `NOTIFY` says of commits, in this library and in the functions of the database.
 */

/** The channel. A payload begins with the name of the schema and a space. */
export const CHANNEL = "billwright"

/** The rest of the payload of a notification that was made in the transaction itself. */
export const IN_TRANSACTION = "transaction"

/** The setting of a session or a transaction whose commits are announced, so that functions don't do it. */
export const ANNOUNCES = "billwright.announces"
