/**
 * The lines of the log, in logfmt.
 */
import { Formatter, Logger } from "effect"

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Formatter.format(value, { space: 0 })

/** The first part of an entry is its message. The others have a key of their own: a line with a key twice is hard to search. */
export const logger = Logger.make<unknown, string>((options) => {
  const [message, ...details] = Array.isArray(options.message) ? options.message : [options.message]
  const line = Logger.formatLogFmt.log({ ...options, message })
  return details.length === 0 ? line : `${line} details=${JSON.stringify(details.map(textOf).join(", "))}`
})
