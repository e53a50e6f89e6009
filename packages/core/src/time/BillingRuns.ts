/**
 * Does what is due: starts, renewals and ends of subscriptions, the finalization of drafts, and attempts of payments.
 */
import { Cause, Context, DateTime, Effect, Exit, Layer, Metric, Option, Schema, Semaphore } from "effect"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { TaxesUnknown } from "../invoices/Taxes.ts"
import { asRunner } from "../shared/Actor.ts"
import { BatchTransactor } from "../shared/BatchTransactor.ts"
import type { DueFailure } from "../shared/Due.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { makeBookCheckRun } from "./BookCheckRun.ts"
import * as ClockAdvance from "./ClockAdvance.ts"
import {
  type ClaimedSubject,
  type CustomerDue,
  type DueCounts,
  DueStore,
  type Lane,
  LANES,
  MAX_CLAIMED_SUBJECTS,
  type Subject,
} from "./DueStore.ts"
import * as DueWork from "./DueWork.ts"
import { makeErasureRun } from "./Erasure.ts"
import { makeGrantRun } from "./GrantRun.ts"
import { makeReminderRun } from "./KeyReminders.ts"
import { makeMethodRun } from "./MethodRun.ts"
import { makeMigrationRun } from "./MigrationRun.ts"
import { batchesAtOnce, type Pace, paced, PACES } from "./Pace.ts"
import { makePaymentRun } from "./PaymentRun.ts"
import { makeRefundRun } from "./RefundRun.ts"
import { batchesOf, MAX_BATCH } from "./RunBatches.ts"
import { failureOf, isWaitedFor, MAX_RUN_ATTEMPTS, mostAttemptsOf, waitingFor } from "./RunFailure.ts"
import * as RunLoop from "./RunLoop.ts"
import { makeSpendRun } from "./SpendRun.ts"
import { makeTopUpRun } from "./TopUpRun.ts"

/** How long a claimed subject is leased. A transaction of a run takes a small part of it. */
const RUN_LEASE_MILLIS = 120_000
/** Most subjects of one claim. One runner works through them, within their lease. */
const CLAIM = 100
/** The same where subjects share transactions: several batches, so that there is always one to begin with. */
const CLAIM_OF_BATCHES = 4 * MAX_BATCH
/**
 * How many calls of a payment provider one runner makes at the same time. It claims no more, so that each is made within
 * its lease.
 */
export const CALLS_AT_ONCE = 8
/** How often a claim works, on its subject and on what has to be done before it. */
const MAX_TURNS = 100
/** Most subjects of one run. */
const MAX_RUN = 1_000_000
const limitMessage = { message: `must be an integer from 1 to ${MAX_RUN}` }

/** The input of `BillingRuns.runDue`. */
export const RunDue = Schema.Struct({
  /** Most subjects to work on. Default: until nothing is due. */
  limit: Schema.optionalKey(
    Schema.Int.annotate(limitMessage).check(Schema.isBetween({ minimum: 1, maximum: MAX_RUN }, limitMessage)),
  ),
  /** Only what is due at this instant or before it; not in the future. Default: now. */
  until: Schema.optionalKey(Schema.DateTimeUtc),
  /** Only what is in this lane. Default: both, at the same time. */
  lane: Schema.optionalKey(Schema.Literals(LANES)),
  /** How much of the storage it takes. Default: `full`. */
  pace: Schema.optionalKey(Schema.Literals(PACES)),
})
export interface RunDue extends Schema.Schema.Type<typeof RunDue> {}

const decodeRun = decoder(RunDue)

/**
 * What a run did. A batch of a plan migration, a step of a payment, a look at a payment method or at an automatic top-up, a step of a refund and work on a test clock count
 * as nothing: the migration says itself how far it is, and so do the invoice, the payment method and the clock.
 */
export interface RunReport {
  /** How many times it worked on a subscription. */
  readonly subscriptions: number
  /** How many invoices it finalized. */
  readonly invoices: number
  /** How many subjects failed. They are tried again later. Subscriptions and invoices may have been set aside: their `failure` says so. */
  readonly failed: number
  /** Whether the limit ended the run, so that more may be due. True while it runs. */
  readonly hasMore: boolean
}

/** What was done with a subject. */
type Counts = Partial<Pick<RunReport, "subscriptions" | "invoices" | "failed">>
type Worked = Effect.Effect<
  Counts & Pick<DueWork.Done, "before">,
  InvalidInput | InvoicingUnsupported | StorageError | TaxesUnknown,
  CurrentTenant
>

const sumOf = (a: Counts, b: Counts): Counts => ({
  subscriptions: (a.subscriptions ?? 0) + (b.subscriptions ?? 0),
  invoices: (a.invoices ?? 0) + (b.invoices ?? 0),
  ...(b.failed === undefined ? {} : { failed: b.failed }),
})

/** Runs what is due, for all tenants. Several runners may run at once. */
export class BillingRuns extends Context.Service<
  BillingRuns,
  {
    /**
     * Works until nothing is due any more. Calls of a payment provider are made beside the rest, at most `CALLS_AT_ONCE` at
     * the same time, so that a slow one holds up no invoice. Each subject has a transaction of its own, or shares one with at most
     * `MAX_BATCH` subjects of other customers where the storage has a `BatchTransactor`. `pace` says how many of these are
     * worked on at the same time, and whether there is a pause after each: when something fails in one, all of it is undone, and each gets a transaction of its own. One that fails is tried again later, from a minute to 6 hours. A subscription or an invoice is set aside after `MAX_RUN_ATTEMPTS` failures in a row, and all else is tried until it is done. Others go on. Amounts depend on the
     * instants at which things are due, and not on when they are run, by whom, or in which order. So what is due of a customer
     * is done in its order, and what waits for something that has failed has a `failure` that says so. It waits until that
     * is done or set aside. Credits are used as they are when an invoice is issued. Not within a transaction. `onProgress` is called after
     * each subject with what was done so far.
     *
     * With `until`, subjects are left out that another runner held at that instant, or that are tried again after it.
     */
    readonly runDue: (
      input?: RunDue,
      onProgress?: (soFar: RunReport) => Effect.Effect<void>,
    ) => Effect.Effect<RunReport, InvalidInput | InvoicingUnsupported | StorageError>

    /**
     * Checks the spend alerts of customers that had usage since their last check, or periods that opened or closed, of all
     * tenants. Gives how many customers it checked. One whose check fails is tried again later, and others go on. `runDue`
     * without a lane begins and ends with it.
     */
    readonly checkSpend: Effect.Effect<number, InvoicingUnsupported | StorageError>

    /** When something is due next. `none` if nothing will be due by itself. */
    readonly nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, InvoicingUnsupported | StorageError>

    /** How much is due at an instant or before it, of all tenants. What becomes due by running that is not counted. */
    readonly countDue: (until: DateTime.Utc) => Effect.Effect<DueCounts, InvoicingUnsupported | StorageError>
  }
>()("@billwright/core/time/BillingRuns") {
  /** Does nothing in the background: it works only when it is called. */
  static readonly layerManual = Layer.effect(
    BillingRuns,
    Effect.gen(function* () {
      const duePort = yield* optionalPort(DueStore)
      const dueWork = yield* DueWork.make
      const transactor = yield* Transactor
      const batchTransactor = Option.getOrUndefined(yield* Effect.serviceOption(BatchTransactor))
      const claimSize = batchTransactor === undefined ? CLAIM : CLAIM_OF_BATCHES
      const runMigration = yield* makeMigrationRun
      const { visit: collectPayment } = yield* makePaymentRun
      const clockAdvance = yield* ClockAdvance.make
      const runErasure = yield* makeErasureRun
      const runMethod = yield* makeMethodRun
      const runRefund = yield* makeRefundRun
      const runTopUp = yield* makeTopUpRun
      const runGrant = yield* makeGrantRun
      const runCheck = yield* makeBookCheckRun
      const runReminder = yield* makeReminderRun
      const checkSpend = Effect.withSpan(yield* makeSpendRun, "BillingRuns.checkSpend")

      const workOn = (claimed: ClaimedSubject, until: number): Worked => {
        const { attempts, subject } = claimed
        if (subject.kind === "plan_migration") {
          return Effect.as(runMigration(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "test_clock") {
          return Effect.as(clockAdvance.takeOver(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "payment_method") {
          return Effect.as(runMethod(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "erasure") {
          return Effect.as(runErasure(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "book_check") {
          return Effect.as(runCheck(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "api_key") {
          return Effect.as(runReminder(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "auto_top_up") {
          return Effect.as(runTopUp(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "credit_grant") {
          return Effect.as(runGrant(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "refund") {
          return Effect.as(runRefund(claimed, subject.id), DueWork.NOTHING)
        }
        if (subject.kind === "payment") {
          const held = Effect.flatMap(Effect.orDie(duePort), (due) => due.holds(claimed))
          return Effect.as(
            collectPayment<InvalidInput | InvoicingUnsupported | StorageError>(
              subject.id,
              held,
              transactor.atomically,
            ),
            DueWork.NOTHING,
          )
        }
        return Effect.flatMap(duePort, (due) => {
          const hold = { attempts, holds: due.holds(claimed), giveBack: due.release(claimed, null) }
          return dueWork.run(subject, until, hold, (each) => transactor.atomically(each))
        })
      }

      /** Does what is due on subjects of a batch in one transaction. `none` if nothing of it could be done so. */
      const workOnAll = Effect.fnUntraced(function* (
        { atomicallyAll }: BatchTransactor["Service"],
        batch: ReadonlyArray<ClaimedSubject>,
        until: number,
      ) {
        const due = yield* duePort
        const members = batch.flatMap((claimed) => {
          const { attempts, subject, tenant } = claimed
          if (!DueWork.isBilled(subject)) return []
          const hold = { attempts, holds: due.holds(claimed), giveBack: due.release(claimed, null) }
          return [Effect.provideService(dueWork.runWithin(subject, until, hold), CurrentTenant, tenant)]
        })
        const exit = yield* Effect.exit(atomicallyAll(members))
        if (Exit.isSuccess(exit)) return Option.some(exit.value)
        return Cause.hasInterruptsOnly(exit.cause) ? yield* Effect.interrupt : Option.none()
      })

      const mayShare = ({ subject }: ClaimedSubject): boolean =>
        DueWork.isBilled(subject) && dueWork.runsWithin(subject.kind)

      const runAlone = Effect.fnUntraced(function* (claimed: ClaimedSubject, until: number) {
        const { subject, tenant } = claimed
        const due = yield* duePort
        const exit = yield* Effect.exit(
          workOn(claimed, until).pipe(Effect.provideService(CurrentTenant, tenant)),
        )
        if (Exit.isSuccess(exit)) return exit.value
        if (Cause.hasInterrupts(exit.cause)) {
          return yield* Effect.failCause(exit.cause).pipe(Effect.catchTag("TaxesUnknown", Effect.die))
        }
        const now = yield* DateTime.now
        const failure = failureOf(claimed.attempts + 1, mostAttemptsOf(subject), exit.cause, now)
        // While the storage fails, so does this. Then the run fails, and the subject has not.
        yield* due.release(claimed, failure).pipe(Effect.provideService(CurrentTenant, tenant))
        const isSetAside = failure.retryAt === null
        yield* Metric.update(isSetAside ? worked.setAside : worked.failed, 1)
        yield* Effect.logError(sentenceOf(subject.kind, isSetAside), subject.id, exit.cause)
        return { failed: 1 }
      })

      /** Does what has to be done before a claimed subject. Gives nothing if that fails: then the subject waits for it. */
      const runBefore = Effect.fnUntraced(function* (
        { attempts, tenant }: ClaimedSubject,
        before: CustomerDue,
        until: number,
        wait: (failure: DueFailure) => Effect.Effect<unknown, InvoicingUnsupported | StorageError>,
      ) {
        const { subject } = before
        if (!isWaitedFor(before, until)) {
          const work = dueWork.run(subject, until, DueWork.unclaimed(before.attempts), transactor.atomically)
          const exit = yield* Effect.exit(Effect.provideService(work, CurrentTenant, tenant))
          if (Exit.isSuccess(exit)) return exit.value
          if (Cause.hasInterrupts(exit.cause)) return yield* Effect.interrupt
          yield* Effect.logError(sentenceOf(subject.kind, false), subject.id, exit.cause)
        }
        yield* wait(waitingFor(attempts, before, yield* DateTime.now))
        return undefined
      })

      /** Works on a subject, after what has to be done before it. So nobody waits for the lease of another runner. */
      const runOne = Effect.fnUntraced(function* (claimed: ClaimedSubject, until: number) {
        const release = (failure: DueFailure | null) =>
          Effect.flatMap(duePort, (due) => due.release(claimed, failure)).pipe(
            Effect.provideService(CurrentTenant, claimed.tenant),
          )
        let counts: Counts = {}
        let before: CustomerDue | undefined
        for (let turns = 0; turns < MAX_TURNS; turns++) {
          const done: DueWork.Done | undefined =
            before === undefined
              ? yield* runAlone(claimed, until)
              : yield* runBefore(claimed, before, until, release)
          if (done === undefined) return counts
          counts = sumOf(counts, done)
          if (before === undefined && done.before === undefined) return counts
          before = done.before
        }
        yield* release(null)
        return counts
      })

      /** Ends leases, so that other runners need not wait until they are over. */
      const giveBack = (all: Iterable<ClaimedSubject>) =>
        Effect.flatMap(duePort, (due) =>
          Effect.forEach(
            all,
            (claimed) =>
              due.release(claimed, null).pipe(Effect.provideService(CurrentTenant, claimed.tenant)),
            { discard: true },
          ),
        ).pipe(Effect.ignore)

      const runAll = Effect.fnUntraced(function* (
        lane: Lane,
        pace: Pace,
        all: ReadonlyArray<ClaimedSubject>,
        until: number,
        note: (counts: Counts) => Effect.Effect<void>,
      ) {
        const left = new Set(all)
        const done = Effect.fnUntraced(function* (claimed: ClaimedSubject, counts: Counts) {
          left.delete(claimed)
          if (counts.failed === undefined) yield* Metric.update(worked.done, 1)
          yield* note(counts)
        })
        const runBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<ClaimedSubject>) {
          const together =
            batchTransactor === undefined || batch.length === 1
              ? Option.none()
              : yield* workOnAll(batchTransactor, batch, until)
          // What failed is found by working on them one after another.
          for (const [index, claimed] of batch.entries()) {
            const shared = Option.isSome(together) ? together.value[index]! : undefined
            const isDone = shared !== undefined && shared.before === undefined
            yield* done(claimed, isDone ? shared : yield* runOne(claimed, until))
          }
        })
        const rounds =
          lane === "calls"
            ? [all.map((one) => [one])]
            : batchTransactor === undefined
              ? all.map((one) => [[one]])
              : batchesOf(all, mayShare)
        const most = lane === "calls" ? CALLS_AT_ONCE : batchesAtOnce(pace)
        yield* Effect.onError(
          Effect.forEach(
            rounds,
            (batches) => {
              const concurrency = batches.length === 1 ? 1 : most
              const run = (batch: ReadonlyArray<ClaimedSubject>) => paced(pace, runBatch(batch))
              return Effect.forEach(batches, run, { concurrency, discard: true })
            },
            { discard: true },
          ),
          () => giveBack(left),
        )
      })

      const runDue = Effect.fn("BillingRuns.runDue")(function* (
        input: RunDue = {},
        onProgress: (soFar: RunReport) => Effect.Effect<void> = () => Effect.void,
      ) {
        const { lane: only, limit = MAX_RUN, pace = "full", until } = yield* decodeRun(input)
        if (until !== undefined && DateTime.isGreaterThan(until, yield* DateTime.now)) {
          return yield* new InvalidInput({ field: "until", problem: "must not be in the future" })
        }
        const due = yield* duePort
        if (only === undefined) yield* checkSpend
        let report: RunReport = { subscriptions: 0, invoices: 0, failed: 0, hasMore: true }
        const note = ({ failed = 0, invoices = 0, subscriptions = 0 }: Counts) => {
          report = {
            ...report,
            subscriptions: report.subscriptions + subscriptions,
            invoices: report.invoices + invoices,
            failed: report.failed + failed,
          }
          return onProgress(report)
        }
        let left = limit
        const claims = yield* Semaphore.make(1)
        /** The lanes claim one after another, because they share the limit. */
        const claim = (lane: Lane, end: DateTime.Utc, now: DateTime.Utc) =>
          Effect.suspend(() => {
            const size = lane === "calls" ? CALLS_AT_ONCE : Math.min(claimSize, MAX_CLAIMED_SUBJECTS)
            const most = Math.min(left, size)
            if (most === 0) return Effect.succeed([])
            const leaseUntil = DateTime.add(now, { milliseconds: RUN_LEASE_MILLIS })
            return Effect.tap(due.claimDue({ lane, now: end, leaseUntil, limit: most }), (all) =>
              Effect.sync(() => (left -= all.length)),
            )
          }).pipe(claims.withPermits(1))
        /** Works until nothing of a lane is due any more. Gives how much was. */
        const runLane = Effect.fnUntraced(function* (lane: Lane) {
          for (let found = 0; ;) {
            const now = yield* DateTime.now
            const end = until ?? now
            const count = yield* Effect.uninterruptibleMask((restore) =>
              Effect.gen(function* () {
                const all = yield* claim(lane, end, now)
                yield* restore(
                  runAll(lane, lane === "calls" ? "full" : pace, all, end.epochMilliseconds, note),
                )
                return all.length
              }),
            )
            if (count === 0) return found
            found += count
          }
        })
        const lanes = only === undefined ? LANES : [only]
        let isChecked = only !== undefined
        for (;;) {
          // A lane that fails does not stop calls of the other one.
          const ends = yield* Effect.forEach(lanes, (lane) => Effect.exit(runLane(lane)), {
            concurrency: "unbounded",
          })
          const found = yield* Effect.forEach(ends, (end) => end)
          const isOver = left === 0
          // What is done in one lane may make something due in the other one.
          if (!isOver && found.some((count) => count > 0)) continue
          // Periods that opened may have usage already. What is due because of it is done, too.
          const checked = isChecked ? 0 : yield* checkSpend
          isChecked = true
          if (isOver) return report
          if (checked === 0) return { ...report, hasMore: false }
        }
      })

      const nextDueAt = Effect.flatMap(duePort, (due) => due.nextDueAt)
      const countDue = (until: DateTime.Utc) => Effect.flatMap(duePort, (due) => due.countDue(until))

      return BillingRuns.of({
        runDue: (input, onProgress) => asRunner(runDue(input, onProgress)),
        checkSpend: asRunner(checkSpend),
        nextDueAt,
        countDue,
      })
    }),
  )

  /**
   * Works in the background until the scope closes, at the pace `background`. The subject under way is then undone, and done again later. On a
   * storage without subscriptions and invoices nothing runs.
   */
  static readonly layer = Layer.effect(
    BillingRuns,
    Effect.tap(BillingRuns, ({ checkSpend, nextDueAt, runDue }) =>
      RunLoop.work({
        nextDueAt,
        lanes: LANES.map((lane) => (input) => runDue({ ...input, lane, pace: "background" })),
        checkSpend,
      }),
    ),
  ).pipe(Layer.provide(BillingRuns.layerManual))
}

const subjects = Metric.counter("billwright_billing_subjects", {
  description: "Subscriptions and invoices that billing runs worked on, by outcome.",
  incremental: true,
})
const worked = {
  done: Metric.withAttributes(subjects, { outcome: "done" }),
  failed: Metric.withAttributes(subjects, { outcome: "failed" }),
  setAside: Metric.withAttributes(subjects, { outcome: "set_aside" }),
}

const sentenceOf = (kind: Subject["kind"], isSetAside: boolean): string =>
  isSetAside
    ? `billing a ${kind} failed ${MAX_RUN_ATTEMPTS} times in a row, and it was set aside: it is not tried again until it is changed`
    : `billing a ${kind} failed; it is tried again`
