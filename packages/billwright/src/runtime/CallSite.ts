/**
 * Where a call came from, for the stack of its error.
 *
 * An error is made when the answer is there, on a stack of nothing but the library's. So the caller's is noted
 * before anything is waited for; its text is only rendered when there is an error.
 */

interface Captured {
  readonly stack?: string
}

const { captureStackTrace } = Error as {
  readonly captureStackTrace?: (target: object, below: (...args: Array<never>) => unknown) => void
}

/** Notes the stack below a function. */
export const capture = (below: (...args: Array<never>) => unknown): Captured => {
  const captured: Captured = {}
  captureStackTrace?.(captured, below)
  return captured
}

const withSite = new WeakSet<Error>()

/** Gives an error the stack that was noted, unless it has one already: the innermost call is the one that failed. */
export const addCallSite = (error: Error, { stack }: Captured): void => {
  if (withSite.has(error)) return
  withSite.add(error)
  const frames = stack?.slice(stack.indexOf("\n"))
  if (frames === undefined) return
  Object.defineProperty(error, "stack", {
    value: `${error.name}: ${error.message}${frames}`,
    configurable: true,
    writable: true,
  })
}
