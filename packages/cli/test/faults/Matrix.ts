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
  row(2, "SIGKILL after the 2xx, before the commit", "I5, I8, I10: the same request is sent again"),
  row(3, "SIGKILL after the commit", "I5, I8, I10: nothing is sent again"),
  row(4, "SIGKILL with half of the body sent", "I5, I8, I10: the whole request is sent again"),
  row(
    5,
    "SIGTERM during an attempt",
    "the attempt is finished or released within 5 s, exit code 0, no process is left",
  ),
  row(6, "SIGSTOP beyond the lease, then SIGCONT", "I6, I7: a result that comes too late changes nothing"),
  row(7, "event loop blocked beyond the lease", "I6, I7: a result that comes too late changes nothing"),
  row(8, "8 workers, 2,000 deliveries, no faults", "exactly one request for each delivery"),
  row(9, "a defect while a delivery is sent", "other deliveries go on; the defect is visible"),
  row(10, "a row that cannot be decoded", "other deliveries go on; this one fails, visibly"),
  row(11, "backend terminated in a transaction (57P01)", "I4: the whole transaction is repeated, once"),
  row(12, "COMMIT sent, its answer lost", "I1–I3: the outcome is found out"),
  row(13, "connection cut before COMMIT arrives", "nothing is stored; one row after the retry"),
  row(14, "immediate restart of Postgres", "I1; processes reconnect, none ends"),
  row(15, "one backend killed (SIGKILL), so that every session drops", "I1; processes reconnect, none ends"),
  row(16, "Postgres down for 30 s under traffic", "503 with Retry-After, readyz 503, livez 200; recovers"),
  row(17, "backends frozen (SIGSTOP)", "calls end in time; recovers"),
  row(18, "connections that drop everything", "calls end in time; the connections are discarded"),
  row(19, "too many connections (53300)", "503, with pauses between tries; recovers"),
  row(20, "deadlock (40P01)", "the whole transaction is repeated; no partial effect"),
  row(
    21,
    "serialization failures (40001)",
    "the whole transaction is repeated, within a limit; no partial effect",
  ),
  row(22, "lock time-out (55P03)", "repeated, within a limit, then 503; no partial effect"),
  row(23, "statement time-out (57014)", "repeated, within a limit, then 503; no partial effect"),
  row(24, "idle_in_transaction_session_timeout of 100 ms", "no HTTP request is made in a transaction"),
  row(25, "Postgres turns read-only (25006)", "writes get 503, reads work; recovers"),
  row(26, "disk full (53100)", "writes get 503, reads work; recovers"),
  row(28, "4 processes migrate an empty database at once", "one migrates, all serve"),
  row(
    29,
    "a worker of this release on the schema of a newer one",
    "works if the schema allows it, otherwise refuses to start; I5",
  ),
  row(30, "a transaction-pooling proxy", "works, or fails at the start with the reason"),
  row(31, "50 identical POSTs at once to 4 processes", "I3, I9"),
  row(32, "one key with two bodies at once to 4 processes", "I3, I9: one is stored, the other is a conflict"),
  row(33, "clients retry after every answer is cut", "I3, I9"),
  row(34, "concurrent replays", "I6: one delivery for each replay, or one for each missed event"),
  row(
    35,
    "an endpoint deleted, disabled or rotated during an attempt",
    "I6; nothing is sent after the commit",
  ),
  row(36, "a customer erased while its usage is recorded", "I6; nothing is recorded after the commit"),
  row(
    37,
    "receivers that hang, send byte by byte, or answer 1xx for ever",
    "the attempt ends in time; others are unaffected",
  ),
  row(
    38,
    "receivers that send 5 MB, compression bombs, NUL, invalid UTF-8 or no HTTP",
    "every result is written",
  ),
  row(39, "redirects and addresses that lead to the private network", "no connection is made"),
  row(
    41,
    "clocks jump by an hour, over a leap day, over a change of summer time",
    "no burst of requests, no loss",
  ),
  row(42, "a worker's clock 10 minutes off", "no burst of requests, no loss; at most duplicates"),
  row(43, "malformed payloads", "400, never 500; nothing is stored"),
  row(44, "extreme quantities", "exact, or 400; nothing is stored"),
  row(
    45,
    "SIGKILL of the embedded Postgres under traffic",
    "I1; 503 until Postgres has been restarted; no process ends",
  ),
  row(46, "SIGKILL of a billing run before or after any commit", "J1–J5, J8, J10, J11: the same invoices"),
  row(47, "4 processes bill at once", "J1–J5, J8, J10, J11: the same invoices"),
  row(48, "deadlock with a billing run (40P01)", "J1–J5, J8, J10, J11: the same invoices"),
  row(49, "billing runs at once in a serializable database", "J1–J5, J8, J10, J11: the same invoices"),
  row(50, "the clock of a billing run is set back", "J1–J5, J8, J10, J11: numbers in order of time"),
  row(51, "no billing run for a week", "J8: the backlog is billed in order of its instants"),
  row(52, "a transaction of the host holds usage over a close", "J3: it is billed later, once"),
  row(53, "immediate restart of Postgres amid a billing run", "J1–J5, J8, J10, J11: the same invoices"),
  row(
    54,
    "SIGKILL, again and again, of processes that advance a test clock",
    "J1–J5, J8, J10, J11: the next advance goes on, to the same invoices",
  ),
  row(
    55,
    "SIGKILL of a process that advances a test clock, and then of billing runs",
    "J1–J5, J8, J10, J11: billing runs finish it with nobody calling, to the same invoices",
  ),
  row(
    57,
    "SIGKILL of a process that collects a payment, around each commit and each call of the provider",
    "J6: one charge in the provider's book, and the invoice is paid",
  ),
  row(
    58,
    "immediate restart of Postgres while the provider works on an attempt",
    "J6: one charge, booked once",
  ),
  row(59, "4 processes collect the same payments at once", "J6: one attempt and one charge for each invoice"),
  row(
    60,
    "SIGSTOP of a process before it has its answer, beyond its lease, while another one collects",
    "J6: one charge, booked once; the late answer changes nothing",
  ),
  row(
    61,
    "SIGKILL of a process that makes a refund, around each commit and each call of the provider",
    "J6: one refund in the provider's book, and the invoice is paid with so much less",
  ),
  row(
    62,
    "the provider tells of a refund, again and again, while a process waits for its answer and others make refunds",
    "J6: one refund for each, booked once",
  ),
  row(
    63,
    "a person refunds a payment while its customer's bank disputes it: SIGKILL around each step, notices again and again, two processes at once",
    "J6: nothing is given back twice; refunds, disputes and what the invoice is paid with are those of the provider's book",
  ),
  row(
    70,
    "SIGKILL of a process that checks spend alerts, before or after any commit; 4 processes at once",
    "each alert fires once, with its event",
  ),
  row(
    71,
    "SIGKILL, again and again, of 4 processes with 64 callers of one account of credits, before and after writes",
    "J7: each call counts once, nobody uses more than there is, and the account is its entries",
  ),
  row(72, "answers to statements are lost while 64 callers use one account", "J7, as in row 71"),
  row(
    73,
    "a hold lapses by the clock of one process while another one commits it",
    "J7: it is committed in time, or late with what it used as debt",
  ),
  row(
    75,
    "64 callers whose clocks are an hour apart, over the end of a grant and of holds",
    "J7, as in row 71",
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

/** The options of a test for these rows. */
export const ofRows = (...rows: ReadonlyArray<number>) => ({ timeout: TIMEOUT, meta: { rows } })
