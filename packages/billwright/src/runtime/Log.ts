/**
 * Passes log entries to the host's function.
 */
import { Cause, Layer, Logger } from "effect"
import type { BillingOptions, LogEntry } from "../BillingOptions.ts"

const LEVELS: Readonly<Record<string, LogEntry["level"]>> = {
  Fatal: "error",
  Error: "error",
  Warn: "warn",
  Info: "info",
}

const toEntry = ({ cause, date, logLevel, message }: Logger.Options<unknown>): LogEntry => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const problems = cause.reasons.length === 0 ? [] : [Cause.squash(cause)]
  return {
    level: LEVELS[logLevel] ?? "debug",
    message: String(parts[0]),
    at: date,
    details: [...parts.slice(1), ...problems].map((part) =>
      Cause.isCause(part) ? Cause.squash(part) : part,
    ),
  }
}

/** Ignores what the host's `log` throws: it must not fail the work that was logged. */
const quietly = (log: (entry: LogEntry) => void, entry: LogEntry): void => {
  try {
    log(entry)
  } catch {
    // There is nowhere left to report it.
  }
}

export const layer = (log: BillingOptions["log"]): Layer.Layer<never> => {
  if (log === undefined) return Layer.empty
  return Logger.layer(log === false ? [] : [Logger.make((options) => quietly(log, toEntry(options)))])
}
