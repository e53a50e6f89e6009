/**
 * Decides whether and when a request is sent again.
 */

/** The first delay, before jitter. Each delay is twice the one before. */
const BASE_MILLIS = 250
const CAP_MILLIS = 8_000
/** When a server asks for a longer delay than this, the request is not retried. */
const MAX_RETRY_AFTER_MILLIS = 60_000

/**
 * The delay that a `Retry-After` header asks for, in milliseconds. The header is seconds or a date (RFC 9110
 * §10.2.3).
 */
const askedMillis = (header: string | null, now: number): number | undefined => {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // The asctime form names no zone and means UTC. `Date.parse` alone would read it as local time.
  const date = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const backOff = (attempt: number): number =>
  Math.min(CAP_MILLIS, BASE_MILLIS * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)

/**
 * How long to wait after attempt number `attempt`, in milliseconds; `undefined` means that the request is not
 * retried. No `response` means that the connection failed. A conflict (409) with `Retry-After` means that an
 * earlier attempt of ours is still running.
 */
export const delayAfter = (attempt: number, response: Response | undefined): number | undefined => {
  if (response === undefined) return backOff(attempt)
  const asked = askedMillis(response.headers.get("retry-after"), Date.now())
  const isPassing =
    [408, 429, 502, 503, 504].includes(response.status) || (response.status === 409 && asked !== undefined)
  if (!isPassing) return undefined
  if (asked === undefined) return backOff(attempt)
  return asked <= MAX_RETRY_AFTER_MILLIS ? Math.max(asked, backOff(attempt)) : undefined
}

/** Waits. Rejects with the signal's reason when the signal aborts. */
export const wait = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort)
      resolve()
    }, millis)
    signal?.addEventListener("abort", onAbort, { once: true })
  })
