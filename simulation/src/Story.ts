/**
 * A short report of a history: the entries that belong to a problem, in order.
 */
import type { History } from "./History.ts"

const MAX_LINES = 40
const MAX_LINE_LENGTH = 240
/** The ids, markers and URLs in a problem's text. */
const NAMES = /\b(?:[a-z]{3}_[0-9a-z]{26}|m-\d+)\b/g

const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === "order" || key === "endOrder" || key === "headers" || key === "secret") return undefined
    return typeof inner === "bigint" ? String(inner) : inner
  })

/** The last entries of a history that contain one of the problem's names. */
export const storyOf = ({ calls, received, storage }: History, problem: string): ReadonlyArray<string> => {
  const named = new Set(problem.match(NAMES))
  const endpoints = storage.flatMap((entry) =>
    entry._tag === "EndpointSeen" && [...named].some((name) => entry.url.includes(`/${name}.`))
      ? entry.id
      : [],
  )
  const names = [...named, ...endpoints]
  const entries = [
    ...calls.map((call) => ({ order: call.order, text: `asked    ${textOf(call)}` })),
    ...received.map((request) => ({ order: request.order, text: `received ${textOf(request)}` })),
    ...storage.map((entry) => ({ order: entry.order, text: `stored   ${textOf(entry)}` })),
  ]
  return entries
    .filter(({ text }) => names.length === 0 || names.some((name) => text.includes(name)))
    .toSorted((a, b) => a.order - b.order)
    .slice(-MAX_LINES)
    .map(({ order, text }) => `${String(order).padStart(5)} ${text}`.slice(0, MAX_LINE_LENGTH))
}
