/**
 * Checks the history of processes by the checkers of the simulation.
 */
import { RetryPolicy } from "@billwright/core"
import { judge } from "@billwright/simulation"
import type { History, Received } from "@billwright/simulation"
import type { FaultyPostgres } from "../../FaultyPostgres.ts"
import type { Receiver } from "../../Receiver.ts"
import type { Journal } from "./Journal.ts"
import { committed } from "./Ledger.ts"
import { storedState } from "./StoredState.ts"

const SECOND = 1_000
const MICROS = 1_000
/** The largest age of a request when it arrives, because a stopped worker sends what it signed before it was stopped. */
const MAX_AGE_MILLIS = 60_000

export interface Evidence {
  readonly postgres: FaultyPostgres
  readonly receiver: Receiver
  readonly journal: Journal
  /** The output of the processes. */
  readonly logs: ReadonlyArray<string>
  /** By how much the clocks of workers were wrong, in milliseconds. */
  readonly skewMillis?: number
}

const receivedBy = (receiver: Receiver, skewMillis: number): ReadonlyArray<Received> =>
  receiver.received().map(({ at, body, headers, path, status }) => {
    const signedAt = Number(headers["webhook-timestamp"]) * SECOND
    const isFresh = Math.abs(at - signedAt) <= MAX_AGE_MILLIS + skewMillis
    return {
      order: at * MICROS,
      sentAt: isFresh ? signedAt : at,
      process: "worker",
      url: receiver.url(path),
      headers,
      body,
      isCopy: false,
      status,
    }
  })

/** The whole history. It has no discrepancies, because tests run the audit as a command if they need it. */
const historyOf = async (evidence: Evidence): Promise<History> => {
  const { journal, logs, postgres, receiver, skewMillis = 0 } = evidence
  const { calls, defects, errors, quietSince } = journal
  return {
    calls,
    defects,
    errors,
    logs,
    received: receivedBy(receiver, skewMillis),
    storage: await committed(postgres),
    stored: await storedState(postgres),
    discrepancies: [],
    quietSince,
    stuck: undefined,
    maxAttempts: { live: RetryPolicy.live.maxAttempts, test: RetryPolicy.test.maxAttempts },
  }
}

/** All violations of invariants, as text, except those that mention something in `damaged`. */
export const violationsOf = async (
  evidence: Evidence,
  damaged: ReadonlyArray<string> = [],
): Promise<ReadonlyArray<string>> =>
  judge(await historyOf(evidence))
    .map(({ invariant, problem }) => `${invariant}: ${problem}`)
    .filter((problem) => !damaged.some((name) => problem.includes(name)))
