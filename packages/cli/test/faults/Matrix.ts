/**
 * The fault matrix: what is broken on purpose, and what must hold. Each test names its rows, and the reporter writes
 * the results to `docs/fault-matrix.md`.
 */

export interface Row {
  readonly number: number
  readonly fault: string
  readonly holds: string
}

const row = (number: number, fault: string, holds: string): Row => ({ number, fault, holds })

export const MATRIX: ReadonlyArray<Row> = [
  row(1, "SIGKILL of a worker after the claim", "I5, I8, I10: another worker sends it"),
  row(2, "SIGKILL after the 2xx, before the commit", "I5, I8, I10: the same is sent again"),
  row(3, "SIGKILL after the commit", "I5, I8, I10: nothing is sent again"),
  row(4, "SIGKILL with the body half sent", "I5, I8, I10: all of it is sent again"),
  row(5, "SIGTERM during an attempt", "finished or released within 5 s, exit code 0, no orphan"),
  row(6, "SIGSTOP beyond the lease, then SIGCONT", "I6, I7: what comes too late changes nothing"),
  row(7, "event loop blocked beyond the lease", "I6, I7: what comes too late changes nothing"),
  row(8, "8 workers, 2,000 deliveries, no faults", "each delivery is exactly one request"),
  row(9, "a defect while one delivery is sent", "the others flow; the defect is visible"),
  row(10, "a row that cannot be decoded", "the others flow; it is set aside, visibly"),
  row(11, "backend terminated in a transaction (57P01)", "I4: all of it is done again, once"),
  row(12, "COMMIT sent, its answer lost", "I1–I3: found out by reading again"),
  row(13, "connection cut before COMMIT arrives", "nothing is stored by it; one row after the retry"),
  row(14, "immediate restart of Postgres", "I1; reconnects, no process ends"),
  row(15, "one backend killed (SIGKILL), so that every session drops", "I1; reconnects, no process ends"),
  row(16, "Postgres down for 30 s under traffic", "503 + Retry-After, readyz 503, livez 200; recovers"),
  row(17, "backends frozen (SIGSTOP)", "bounded latency; recovers"),
  row(18, "connections blackholed", "bounded latency; the connections are discarded"),
  row(19, "too many connections (53300)", "503, backs off; recovers"),
  row(20, "deadlock (40P01)", "the whole transaction is run again; no partial effect"),
  row(21, "serialization failures (40001)", "the whole transaction is run again, bounded; no partial effect"),
  row(22, "lock time-out (55P03)", "run again, bounded, then 503; no partial effect"),
  row(23, "statement time-out (57014)", "run again, bounded, then 503; no partial effect"),
  row(24, "idle_in_transaction_session_timeout of 100 ms", "no HTTP happens in a transaction"),
  row(25, "Postgres turns read-only (25006)", "writes 503, reads work; resumes"),
  row(26, "disk full (53100)", "writes 503, reads work; resumes"),
  row(28, "4 processes migrate an empty database at once", "one migrates, all serve"),
  row(29, "a worker of today on the schema of tomorrow", "goes on if it may, refuses to start if not; I5"),
  row(30, "a transaction-pooling proxy", "works, or says at the start why not"),
  row(31, "50 identical POSTs at once over 4 processes", "I3, I9"),
  row(32, "one key, two bodies, at once over 4 processes", "I3, I9: one of the two, and a conflict"),
  row(33, "clients retry after every answer is cut", "I3, I9"),
  row(34, "concurrent replays", "I6: a delivery each, or one for what was missed"),
  row(35, "an endpoint deleted, disabled, rotated during an attempt", "I6; nothing is sent after the commit"),
  row(36, "a customer deleted against its usage", "I6; nothing is recorded after the commit"),
  row(
    37,
    "receivers that hang, drip, answer 1xx for ever",
    "the attempt ends in time, others are unaffected",
  ),
  row(38, "receivers that send 5 MB, bombs, NUL, no UTF-8, no HTTP", "every result is written"),
  row(39, "redirects and addresses that lead inside", "no connection is made"),
  row(41, "clocks jump by an hour, over a leap day, over a change of DST", "no storm, no loss"),
  row(42, "a worker's clock 10 minutes off", "no storm, no loss; duplicates at most"),
  row(43, "poison payloads", "400, never 500; nothing is stored"),
  row(44, "quantity extremes", "exact, or 400; nothing is stored"),
  row(
    45,
    "SIGKILL of the embedded Postgres under traffic",
    "I1; 503 until its server has started it again; no process ends",
  ),
]

declare module "vitest" {
  interface TaskMeta {
    /** The rows of the fault matrix that a test covers. */
    rows?: ReadonlyArray<number>
  }
}

/** A test that takes longer than this shows a bug or a busy machine. */
export const TIMEOUT = 120_000

/** The options of a test of these rows. */
export const ofRows = (...rows: ReadonlyArray<number>) => ({ timeout: TIMEOUT, meta: { rows } })
