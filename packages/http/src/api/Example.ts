/**
 * The type of the examples in the API reference.
 */

/** The example of an operation: the request's body, if it has one, and the answer with the first success status. */
export interface Example {
  readonly request?: object
  /** A string when the answer is not JSON. */
  readonly response: object | string
}
