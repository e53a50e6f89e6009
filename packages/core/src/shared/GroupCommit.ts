/**
 * Group commit: calls that arrive while a commit is under way are written together by the next one.
 *
 * The first call of an idle queue is written at once, so an idle system adds no delay. A busy system needs one transaction
 * for many calls. Each caller gets its own result.
 */
import { Cause, Context, Effect, Exit, FiberSet, Option, type Scope, Semaphore } from "effect"
import { StorageError } from "./StorageError.ts"
import { CurrentTenant, type Tenant, tenantKey } from "./Tenant.ts"

/** The limits of a group commit. */
export interface GroupCommitLimits {
  /** Most calls that wait or are being written, over all queues. Default 10,000. */
  readonly maxPending?: number
  /** How long a caller waits for a place while there are so many, in milliseconds. Default 5,000. */
  readonly maxWaitMillis?: number
  /** Most transactions at a time, over all queues. Each queue has one at a time. Default 4. */
  readonly maxConcurrentCommits?: number
}

export interface GroupCommitOptions extends GroupCommitLimits {
  /** The operation that errors name, such as `UsageIngest.submit`. */
  readonly operation: string
  /** What the queue is called in errors, such as `the usage queue`. */
  readonly name: string
  /** Most calls of a group. */
  readonly maxGroup: number
}

const DEFAULT_MAX_PENDING = 10_000
const DEFAULT_MAX_WAIT_MILLIS = 5_000
const DEFAULT_MAX_CONCURRENT_COMMITS = 4
/** Smallest limit of a group. Groups up to this size are not split. */
const MIN_HALF = 16
/** Most callers that are answered before the next group is taken, while other calls wait. */
const FEW = 2
/** How long closing waits for accepted calls to be written, in milliseconds. A storage usually answers sooner. */
const CLOSE_MILLIS = 5_000

/** Writes a group in one transaction. Gives an outcome for each call, in the same order. */
export type WriteGroup<Call, Outcome> = (
  calls: ReadonlyArray<Call>,
) => Effect.Effect<ReadonlyArray<Outcome>, StorageError, CurrentTenant>

/**
 * Writes single calls in groups. Each tenant has a queue, or one for each `queue` that its callers name.
 *
 * `submit` fails with a retryable `StorageError` when there are too many calls for `maxWaitMillis`, or when its scope has
 * closed. Interrupting a caller removes its call if that still waits. A call that is already being written is written, and
 * the rest of its group is not affected.
 *
 * Closing the scope writes the accepted calls for up to 5 seconds. Calls that still wait then are refused. For those being
 * written it is unknown whether they are stored (`isOutcomeUnknown`).
 */
export interface GroupCommit<Call, Outcome> {
  readonly submit: (call: Call, queue?: string) => Effect.Effect<Outcome, StorageError, CurrentTenant>
  /**
   * Like `submit`, for calls that can be written by themselves, too. Gives none when the call still waits after this many
   * milliseconds. It is not written then.
   */
  readonly submitWithin: (
    call: Call,
    millis: number,
  ) => Effect.Effect<Option.Option<Outcome>, StorageError, CurrentTenant>
}

interface Waiting<Call, Outcome> {
  readonly call: Call
  readonly settle: (outcome: Exit.Exit<Outcome, StorageError>) => void
}

interface Queue<Call, Outcome> {
  readonly tenant: Tenant
  /** Those that are not being written yet, in order. A call that is withdrawn is taken out, so that nothing keeps it. */
  readonly waiting: Set<Waiting<Call, Outcome>>
  /** How many calls the last written group had. */
  lastSize: number
}

/**
 * Most calls of the next group: half of the calls that wait or are being answered.
 *
 * Callers often call again when they get an answer. With halves, they form two groups: the storage writes one while this
 * process answers the other and gets its next calls. Without the limit, a group of nearly all calls and a group of one can
 * alternate, so that storage and process wait for each other. A few calls are not worth a second transaction, so small
 * groups are not split.
 */
const groupLimit = <Call, Outcome>({ lastSize, waiting }: Queue<Call, Outcome>, most: number): number =>
  Math.min(most, Math.max(MIN_HALF, Math.ceil((waiting.size + lastSize) / 2)))

/**
 * Whether the callers of the last group are answered a turn of the event loop before the next group is taken, so that those
 * that call again at once are in it. It is done for several callers, but not for many, which form two groups. When calls wait
 * already, they wait for the answers, so it is done for few answers only. Otherwise a few callers of one process would stay
 * in two groups that alternate, and each call would wait for two commits.
 */
const answersFirst = <Call, Outcome>({ lastSize, waiting }: Queue<Call, Outcome>): boolean => {
  const callers = lastSize + waiting.size
  return callers > 1 && callers <= MIN_HALF && (waiting.size === 0 || lastSize <= FEW)
}

/** Takes the calls of the next commit out of a queue. Gives none when no call waits. */
const nextGroup = <Call, Outcome>(
  queue: Queue<Call, Outcome>,
  most: number,
): ReadonlyArray<Waiting<Call, Outcome>> => {
  const group = [...queue.waiting.values().take(groupLimit(queue, most))]
  for (const waiting of group) queue.waiting.delete(waiting)
  queue.lastSize = group.length
  return group
}

/**
 * Gives a caller its result. That may run code of the host's, such as an observer of the caller's fiber. What it throws is
 * an uncaught error of the process, and keeps nobody else from being answered.
 */
const answer = <Call, Outcome>(
  { settle }: Waiting<Call, Outcome>,
  outcome: Exit.Exit<Outcome, StorageError>,
): void => {
  try {
    settle(outcome)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** Gives a result to all callers of a group that have none yet. */
const settleAll = <Call, Outcome>(
  group: ReadonlyArray<Waiting<Call, Outcome>>,
  outcome: Exit.Exit<never, StorageError>,
): void => group.forEach((waiting) => answer(waiting, outcome))

/** Makes the queues of one process. They live until their scope closes. */
export const make = Effect.fnUntraced(function* <Call, Outcome>(
  write: WriteGroup<Call, Outcome>,
  options: GroupCommitOptions,
): Effect.fn.Return<GroupCommit<Call, Outcome>, never, Scope.Scope> {
  const permits = Semaphore.makeUnsafe(options.maxPending ?? DEFAULT_MAX_PENDING)
  const commits = Semaphore.makeUnsafe(options.maxConcurrentCommits ?? DEFAULT_MAX_CONCURRENT_COMMITS)
  const maxWait = options.maxWaitMillis ?? DEFAULT_MAX_WAIT_MILLIS
  const queues = new Map<string, Queue<Call, Outcome>>()
  type Group = ReadonlyArray<Waiting<Call, Outcome>>
  const drains = yield* FiberSet.make<void>()
  const runDrain = yield* FiberSet.runtime(drains)()
  let isClosed = false

  const unavailable = (state: string): StorageError =>
    new StorageError({
      operation: options.operation,
      retryable: true,
      cause: new Error(`${options.name} ${state}`),
    })

  const outcomeUnknown = (): StorageError =>
    new StorageError({
      operation: options.operation,
      retryable: false,
      isOutcomeUnknown: true,
      cause: new Error(`${options.name} closed before the storage answered`),
    })

  /** Refuses the waiting calls of a queue while the storage is out of reach: waiting would not help them. */
  const refuseWaiting = ({ waiting }: Queue<Call, Outcome>): void => {
    const refusal = Exit.fail(unavailable("waits for a storage that is out of reach"))
    settleAll([...waiting], refusal)
    waiting.clear()
  }

  /**
   * Writes a group, and gives a function that answers its callers. When the group can't be written as a whole, each call is
   * tried alone.
   */
  const commit = (queue: Queue<Call, Outcome>, group: Group): Effect.Effect<() => void> =>
    write(group.map((waiting) => waiting.call)).pipe(
      Effect.provideService(CurrentTenant, queue.tenant),
      Effect.exit,
      Effect.flatMap((exit) => {
        const isLost = Exit.isFailure(exit) && isOutOfReach(exit.cause)
        if (group.length > 1 && Exit.isFailure(exit) && !isLost) return commitEach(queue, group)
        if (isLost) refuseWaiting(queue)
        return Effect.succeed(() => {
          group.forEach((waiting, index) =>
            answer(
              waiting,
              Exit.map(exit, (outcomes) => outcomes[index]!),
            ),
          )
        })
      }),
    )

  const commitEach = (queue: Queue<Call, Outcome>, group: Group): Effect.Effect<() => void> =>
    Effect.as(
      Effect.forEach(group, (waiting) => Effect.map(commit(queue, [waiting]), (tell) => tell()), {
        discard: true,
      }),
      () => {},
    )

  /** Commits the waiting calls of a queue. Each group is committed after the previous one has ended. */
  const drain = Effect.fnUntraced(function* (key: string, queue: Queue<Call, Outcome>) {
    const group = nextGroup(queue, options.maxGroup)
    if (group.length === 0) {
      queues.delete(key)
      return
    }
    const tell = yield* Effect.onInterrupt(commits.withPermit(commit(queue, group)), () =>
      Effect.sync(() => settleAll(group, Exit.fail(outcomeUnknown()))),
    )
    if (answersFirst(queue)) {
      tell()
      yield* Effect.yieldNow
      runDrain(drain(key, queue))
    } else {
      // Starts the next group first, so that the storage works on it while the callers of this one are answered.
      runDrain(drain(key, queue))
      tell()
    }
  })

  /** Gives a function that takes the call out again, and says whether it still waited. */
  const enqueue = (
    tenant: Tenant,
    name: string | undefined,
    waiting: Waiting<Call, Outcome>,
  ): (() => boolean) => {
    const key = name === undefined ? tenantKey(tenant) : JSON.stringify([tenantKey(tenant), name])
    const running = queues.get(key)
    const queue: Queue<Call, Outcome> = running ?? { tenant, waiting: new Set(), lastSize: 0 }
    queue.waiting.add(waiting)
    if (running === undefined) {
      queues.set(key, queue)
      runDrain(drain(key, queue))
    }
    return () => queue.waiting.delete(waiting)
  }

  // Runs before the fibers of the set are interrupted. Their interruption answers the callers of groups being written.
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.timeoutOrElse(FiberSet.awaitEmpty(drains), {
      duration: CLOSE_MILLIS,
      orElse: () =>
        Effect.sync(() => {
          const refusal = Exit.fail(unavailable("is closed"))
          for (const { waiting } of queues.values()) {
            settleAll([...waiting], refusal)
            waiting.clear()
          }
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

  const written = (
    tenant: Tenant,
    call: Call,
    queue?: string,
    onWaiting?: (withdraw: () => boolean) => void,
  ) =>
    Effect.callback<Outcome, StorageError>((resume) => {
      // Checked again here, because the queue may have closed while the caller waited for a place.
      if (isClosed) return resume(Effect.fail(unavailable("is closed")))
      const withdraw = enqueue(tenant, queue, { call, settle: resume })
      onWaiting?.(withdraw)
      return Effect.sync(withdraw)
    })

  const withPermit = permits.withPermitsIfAvailable(1)
  const withTenant = <A>(use: (tenant: Tenant) => Effect.Effect<A, StorageError>) =>
    Effect.contextWith((context: Context.Context<CurrentTenant>) => use(Context.get(context, CurrentTenant)))

  const submit = (call: Call, queue?: string) =>
    withTenant((tenant) => {
      const writing = written(tenant, call, queue)
      return Effect.flatMap(withPermit(writing), (outcome) =>
        Option.isSome(outcome)
          ? Effect.succeed(outcome.value)
          : Effect.scoped(Effect.andThen(waitForPermit, writing)),
      )
    })

  const submitWithin = (call: Call, millis: number) =>
    withTenant((tenant) => {
      let withdraw = () => true
      const writing = written(tenant, call, undefined, (its) => {
        withdraw = its
      })
      const withdrawn = Effect.suspend(() => (withdraw() ? Effect.succeedNone : Effect.never))
      const late = Effect.andThen(Effect.sleep(millis), withdrawn)
      return Effect.raceFirst(withPermit(writing), late)
    })

  return { submit, submitWithin }
})

/** Whether the storage is out of reach, so that trying the calls one by one would not help. */
const isOutOfReach = (cause: Cause.Cause<StorageError>): boolean =>
  Option.exists(Cause.findErrorOption(cause), (error) => error.retryable || error.isOutcomeUnknown === true)
