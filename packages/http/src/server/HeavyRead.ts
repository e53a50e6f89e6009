/**
 * Which operations may read much: lists, sums, exports, documents, and previews that rate usage. They take turns by account:
 * see `AccountTurns`.
 */

/** Reads of one small thing whose paths don't end with its id. Programs ask for them before each of their own requests. */
const LIGHT: ReadonlySet<string> = new Set(["getCreditBalance", "listEventTypes", "streamEvents"])

/** What writes nothing, or little, and rates usage like a bill. */
const RATING: ReadonlySet<string> = new Set([
  "advanceTestClock",
  "diffCatalog",
  "previewNewSubscription",
  "previewPlan",
  "previewSubscription",
  "reconcileSubscription",
])

/** Whether an operation may read much. A GET does, unless it reads one object by the id at the end of its path. */
export const isHeavyRead = (operation: {
  readonly identifier: string
  readonly method: string
  readonly path: string
}): boolean => {
  const { identifier, method, path } = operation
  if (method !== "GET") return RATING.has(identifier)
  const isOneObject = path.slice(path.lastIndexOf("/")).startsWith("/:")
  return !isOneObject && !LIGHT.has(identifier)
}
