/**
 * Group commit: single records that arrive while a commit is under way go into the next one together.
 *
 * The first record of an idle tenant is appended at once, so an idle system adds no delay; a busy one pays one
 * transaction for up to `MAX_BATCH_RECORDS` records. Each caller gets its own result.
 */
import { Cause, Context, Effect, Exit, FiberSet, Option, type Scope, Semaphore } from "effect"
import { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant, type Tenant, tenantKey } from "../shared/Tenant.ts"
import { MAX_BATCH_RECORDS, type NewUsageRecord } from "./UsageRecord.ts"
import type { AppendOutcome } from "./UsageStore.ts"

/** The limits of the ingest queue. */
export interface UsageIngestOptions {
  /** Most records that wait or are being written, over all tenants. Default 10,000. */
  readonly maxPending?: number
  /** How long a caller waits for a place in a full queue, in milliseconds. Default 5,000. */
  readonly maxWaitMillis?: number
  /** Most transactions at a time, over all tenants; of one tenant there is one at a time. Default 4. */
  readonly maxConcurrentCommits?: number
}

const DEFAULT_MAX_PENDING = 10_000
const DEFAULT_MAX_WAIT_MILLIS = 5_000
const DEFAULT_MAX_CONCURRENT_COMMITS = 4
/** From so many records on a group is halved. */
const MIN_HALF = 16
/** How long closing waits for what was accepted to be written, in milliseconds: longer than a storage takes to answer. */
const CLOSE_MILLIS = 5_000

/** Appends a group in one transaction: an outcome for each record, in order. */
export type AppendGroup = (
  records: ReadonlyArray<NewUsageRecord>,
) => Effect.Effect<ReadonlyArray<AppendOutcome>, StorageError, CurrentTenant>

/**
 * Appends single records in groups.
 *
 * `submit` fails with a retryable `StorageError` when the queue stays full for `maxWaitMillis`, or when its
 * scope has closed. Interrupting a caller whose record still waits withdraws the record; one that is being
 * written is written, and never tears the group. Closing the scope writes what was accepted, for 5 seconds: then
 * it is refused, and of what was being written nobody can say whether it was (`isOutcomeUnknown`).
 */
export interface UsageIngest {
  readonly submit: (record: NewUsageRecord) => Effect.Effect<AppendOutcome, StorageError, CurrentTenant>
}

interface Waiting {
  readonly record: NewUsageRecord
  readonly settle: (outcome: Exit.Exit<AppendOutcome, StorageError>) => void
  isWithdrawn: boolean
}

interface TenantQueue {
  readonly tenant: Tenant
  readonly waiting: Array<Waiting>
  /** How many records the group had that was written last. */
  lastSize: number
}

/**
 * How many records the next group may have: half of those who wait or are being answered. Callers that come again when
 * they are answered are two groups then, and the storage writes one while this process answers the other and reads what
 * it sends next. Left to themselves they may end as a group of nearly all and one of a single record, in turn: each
 * of the two sides waits for the other then. A few are not worth a transaction more.
 */
const groupLimit = ({ lastSize, waiting }: TenantQueue): number =>
  Math.min(MAX_BATCH_RECORDS, Math.max(MIN_HALF, Math.ceil((waiting.length + lastSize) / 2)))

/** Takes the records of the next commit out of a queue: none when nobody waits any more. */
const nextGroup = (queue: TenantQueue): ReadonlyArray<Waiting> => {
  let group: ReadonlyArray<Waiting> = []
  while (group.length === 0 && queue.waiting.length > 0) {
    group = queue.waiting.splice(0, groupLimit(queue)).filter(({ isWithdrawn }) => !isWithdrawn)
  }
  queue.lastSize = group.length
  return group
}

const unavailable = (state: string): StorageError =>
  new StorageError({
    operation: "UsageIngest.submit",
    retryable: true,
    cause: new Error(`the usage queue ${state}`),
  })

const outcomeUnknown = (): StorageError =>
  new StorageError({
    operation: "UsageIngest.submit",
    retryable: false,
    isOutcomeUnknown: true,
    cause: new Error("the usage queue closed before the storage answered"),
  })

/** Tells all of a group, but for those that were told already. */
const settleAll = (group: ReadonlyArray<Waiting>, outcome: Exit.Exit<never, StorageError>): void =>
  group.forEach(({ settle }) => settle(outcome))

/** Makes the queue of one process; it lives as long as its scope. */
export const make: (
  append: AppendGroup,
  options: UsageIngestOptions,
) => Effect.Effect<UsageIngest, never, Scope.Scope> = Effect.fnUntraced(function* (append, options) {
  const permits = Semaphore.makeUnsafe(options.maxPending ?? DEFAULT_MAX_PENDING)
  const commits = Semaphore.makeUnsafe(options.maxConcurrentCommits ?? DEFAULT_MAX_CONCURRENT_COMMITS)
  const maxWait = options.maxWaitMillis ?? DEFAULT_MAX_WAIT_MILLIS
  const queues = new Map<string, TenantQueue>()
  const drains = yield* FiberSet.make<void>()
  const runDrain = yield* FiberSet.runtime(drains)()
  let isClosed = false

  /** While the storage is out of reach, who waits would wait for nothing, and too long to be told in time. */
  const refuseWaiting = (tenant: Tenant): void => {
    const refusal = Exit.fail(unavailable("waits for a storage that is out of reach"))
    settleAll(queues.get(tenantKey(tenant))?.waiting.splice(0) ?? [], refusal)
  }

  /**
   * Appends a group, and gives what tells its callers. When it can't be stored as a whole, each record is tried
   * alone.
   */
  const commit = (tenant: Tenant, group: ReadonlyArray<Waiting>): Effect.Effect<() => void> =>
    append(group.map((waiting) => waiting.record)).pipe(
      Effect.provideService(CurrentTenant, tenant),
      Effect.exit,
      Effect.flatMap((exit) => {
        const isLost = Exit.isFailure(exit) && isOutOfReach(exit.cause)
        if (group.length > 1 && Exit.isFailure(exit) && !isLost) return commitEach(tenant, group)
        if (isLost) refuseWaiting(tenant)
        return Effect.succeed(() => {
          group.forEach((waiting, index) => waiting.settle(Exit.map(exit, (outcomes) => outcomes[index]!)))
        })
      }),
    )

  const commitEach = (tenant: Tenant, group: ReadonlyArray<Waiting>): Effect.Effect<() => void> =>
    Effect.as(
      Effect.forEach(group, (waiting) => Effect.map(commit(tenant, [waiting]), (tell) => tell()), {
        discard: true,
      }),
      () => {},
    )

  /** Commits what waits for a tenant. One group's commit starts when the one before it has ended. */
  const drain = Effect.fnUntraced(function* (key: string, queue: TenantQueue) {
    const group = nextGroup(queue)
    if (group.length === 0) {
      queues.delete(key)
      return
    }
    const tell = yield* Effect.onInterrupt(commits.withPermit(commit(queue.tenant, group)), () =>
      Effect.sync(() => settleAll(group, Exit.fail(outcomeUnknown()))),
    )
    // First the next group: the storage works on it while the callers of this one are answered.
    runDrain(drain(key, queue))
    tell()
  })

  const enqueue = (tenant: Tenant, waiting: Waiting): void => {
    const key = tenantKey(tenant)
    const running = queues.get(key)
    if (running !== undefined) {
      running.waiting.push(waiting)
      return
    }
    const queue: TenantQueue = { tenant, waiting: [waiting], lastSize: 0 }
    queues.set(key, queue)
    runDrain(drain(key, queue))
  }

  // Runs before the fibers of the set are interrupted, which tells the callers of groups that are being written.
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.timeoutOrElse(FiberSet.awaitEmpty(drains), {
      duration: CLOSE_MILLIS,
      orElse: () =>
        Effect.sync(() => {
          const refusal = Exit.fail(unavailable("is closed"))
          for (const { waiting } of queues.values()) settleAll(waiting.splice(0), refusal)
        }),
    })
  })

  /** Waits for a place, which is then held until the scope closes. */
  const waitForPermit = Effect.suspend(() =>
    isClosed
      ? Effect.fail(unavailable("is closed"))
      : Effect.timeoutOrElse(permits.takeScoped(1), {
          duration: maxWait,
          orElse: () => Effect.fail(unavailable("is full")),
        }),
  )

  const written = (tenant: Tenant, record: NewUsageRecord) =>
    Effect.callback<AppendOutcome, StorageError>((resume) => {
      // Asked here, since who waited for a place may have got it after the close.
      if (isClosed) return resume(Effect.fail(unavailable("is closed")))
      const waiting: Waiting = { record, settle: resume, isWithdrawn: false }
      enqueue(tenant, waiting)
      return Effect.sync(() => {
        waiting.isWithdrawn = true
      })
    })

  const withPermit = permits.withPermitsIfAvailable(1)

  return {
    submit: (record) =>
      Effect.contextWith((context: Context.Context<CurrentTenant>) => {
        const writing = written(Context.get(context, CurrentTenant), record)
        return Effect.flatMap(withPermit(writing), (outcome) =>
          Option.isSome(outcome)
            ? Effect.succeed(outcome.value)
            : Effect.scoped(Effect.andThen(waitForPermit, writing)),
        )
      }),
  }
})

/** Trying the records one by one can't help when the storage itself is out of reach. */
const isOutOfReach = (cause: Cause.Cause<StorageError>): boolean =>
  Option.exists(Cause.findErrorOption(cause), (error) => error.retryable || error.isOutcomeUnknown === true)
