/**
 * Gives errors the stack of the caller.
 *
 * An error is created after the library has waited for something. By then its stack holds only frames of the
 * library. So the caller's stack is captured before the first wait. Its text is only rendered if there is an error.
 */

interface Captured {
  readonly stack?: string
}

const { captureStackTrace } = Error as {
  readonly captureStackTrace?: (target: object, below: (...args: Array<never>) => unknown) => void
}

/** Captures the stack below a function. */
export const capture = (below: (...args: Array<never>) => unknown): Captured => {
  const captured: Captured = {}
  captureStackTrace?.(captured, below)
  return captured
}

const withSite = new WeakSet<Error>()

/**
 * Gives an error the captured stack, unless an inner call has already done so: the innermost call is the one that
 * failed.
 */
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
