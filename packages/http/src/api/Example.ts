/**
 * What an operation of the reference shows.
 */

/** An operation's example: what is sent, where something is, and what comes back with the first success status. */
export interface Example {
  readonly request?: object
  /** Text where the answer is no JSON. */
  readonly response: object | string
}
