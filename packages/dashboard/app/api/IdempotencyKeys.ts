/**
 * The idempotency keys of requests. A request whose answer got lost may have been carried out. So it has the same key when
 * somebody sends it again, and the API does it once.
 */

export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")

export interface IdempotencyKeys {
  /** The key of a request: a new one, or that of the same request if its outcome is not known. */
  readonly of: (request: string) => string
  /** The outcome of a request is known. Who sends the same from now on wants it once more. */
  readonly settle: (request: string) => void
  /** Forgets all requests. */
  readonly clear: () => void
}

/** Requests are told apart by their method, address and body. */
export const make = (): IdempotencyKeys => {
  const open = new Map<string, string>()
  return {
    of: (request) => {
      const key = open.get(request) ?? newKey()
      open.set(request, key)
      return key
    },
    settle: (request) => void open.delete(request),
    clear: () => open.clear(),
  }
}
