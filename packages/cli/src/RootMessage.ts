/**
 * The innermost message of an error. Its wrappers add nothing for people.
 */

/** How many nested causes of an error are read at most. */
const MAX_DEPTH = 8

/** The message of the innermost cause, which comes from the driver or the system. Empty if there is none. */
export const rootOf = (error: unknown, depth = 0): string => {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return ""
  const { cause, code, reason } = error as Error & { readonly code?: unknown; readonly reason?: unknown }
  const deeper = rootOf(cause, depth + 1) || rootOf(reason, depth + 1)
  return deeper || error.message || (typeof code === "string" ? code : "")
}
