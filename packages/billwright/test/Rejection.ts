import { assert } from "vitest"

/** The error that a promise is rejected with. */
export const rejection = async (promise: PromiseLike<unknown>): Promise<Error> => {
  const outcome = await promise.then(
    (value) => assert.fail(`fulfilled with ${String(value)}`),
    (error: unknown) => error,
  )
  assert.instanceOf(outcome, Error)
  return outcome
}
