/**
 * Group commit: single records that arrive while a commit is under way are written together by the next one.
 *
 * The first record of an idle tenant is appended at once, so an idle system adds no delay. A busy system needs one
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
  /** Most transactions at a time, over all tenants. Each tenant has one at a time. Default 4. */
  readonly maxConcurrentCommits?: number
}

const DEFAULT_MAX_PENDING = 10_000
const DEFAULT_MAX_WAIT_MILLIS = 5_000
const DEFAULT_MAX_CONCURRENT_COMMITS = 4
/** Smallest limit of a group, in records. Groups up to this size are not split. */
const MIN_HALF = 16
/** How long closing waits for accepted records to be written, in milliseconds. A storage usually answers sooner. */
const CLOSE_MILLIS = 5_000

/** Appends a group in one transaction. Gives an outcome for each record, in the same order. */
export type AppendGroup = (
  records: ReadonlyArray<NewUsageRecord>,
) => Effect.Effect<ReadonlyArray<AppendOutcome>, StorageError, CurrentTenant>

/**
 * Appends single records in groups.
 *
 * `submit` fails with a retryable `StorageError` when the queue stays full for `maxWaitMillis`, or when its scope has
 * closed. Interrupting a caller removes its record if the record still waits. A record that is already being written is
 * written, and the rest of its group is not affected.
 *
 * Closing the scope writes the accepted records for up to 5 seconds. Records that still wait then are refused. For those
 * being written it is unknown whether they are stored (`isOutcomeUnknown`).
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
  /** How many records the last written group had. */
  lastSize: number
}

/**
 * Most records of the next group: half of the records that wait or are being answered.
 *
 * Callers often send the next record when they get an answer. With halves, they form two groups: the storage writes one
 * while this process answers the other and reads its next records. Without the limit, a group of nearly all records and
 * a group of one can alternate, so that storage and process wait for each other. A few records are not worth a second
 * transaction, so small groups are not split.
 */
const groupLimit = ({ lastSize, waiting }: TenantQueue): number =>
  Math.min(MAX_BATCH_RECORDS, Math.max(MIN_HALF, Math.ceil((waiting.length + lastSize) / 2)))

/** Takes the records of the next commit out of a queue. Gives none when no record waits. */
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

/** Gives a result to all callers of a group that have none yet. */
const settleAll = (group: ReadonlyArray<Waiting>, outcome: Exit.Exit<never, StorageError>): void =>
  group.forEach(({ settle }) => settle(outcome))

/** Makes the queue of one process. It lives until its scope closes. */
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

  /** Refuses the waiting records of a tenant while the storage is out of reach: waiting would not help them. */
  const refuseWaiting = (tenant: Tenant): void => {
    const refusal = Exit.fail(unavailable("waits for a storage that is out of reach"))
    settleAll(queues.get(tenantKey(tenant))?.waiting.splice(0) ?? [], refusal)
  }

  /**
   * Appends a group, and gives a function that answers its callers. When the group can't be stored as a whole, each
   * record is tried alone.
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

  /** Commits a tenant's waiting records. Each group is committed after the previous one has ended. */
  const drain = Effect.fnUntraced(function* (key: string, queue: TenantQueue) {
    const group = nextGroup(queue)
    if (group.length === 0) {
      queues.delete(key)
      return
    }
    const tell = yield* Effect.onInterrupt(commits.withPermit(commit(queue.tenant, group)), () =>
      Effect.sync(() => settleAll(group, Exit.fail(outcomeUnknown()))),
    )
    // Starts the next group first, so that the storage works on it while the callers of this one are answered.
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

  // Runs before the fibers of the set are interrupted. Their interruption answers the callers of groups being written.
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
      // Checked again here, because the queue may have closed while the caller waited for a place.
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

/** Whether the storage is out of reach, so that trying the records one by one would not help. */
const isOutOfReach = (cause: Cause.Cause<StorageError>): boolean =>
  Option.exists(Cause.findErrorOption(cause), (error) => error.retryable || error.isOutcomeUnknown === true)
