/**
 * Checks that arrive at the same time read together: each statement reads for all of a group.
 */
import { type Context, Effect, Result } from "effect"
import type { CustomerNotFound } from "../customers/Customer.ts"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import * as Batch from "../shared/Batch.ts"
import * as GroupCommit from "../shared/GroupCommit.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import type { Entitlement } from "./Entitlement.ts"

/** Most checks of a group. */
const MAX_CHECKS = 100

type Refusal = InvalidInput | CustomerNotFound | InvoicingUnsupported
type Check = Effect.Effect<Entitlement, Refusal | StorageError>
type Answered = Result.Result<Entitlement, Refusal>

/** A refusal is of one check. When the storage fails, all of a group are read anew, each by itself. */
const answered = (check: Check): Effect.Effect<Answered, StorageError> =>
  Effect.flatMap(Effect.result(check), (result): Effect.Effect<Answered, StorageError> => {
    if (Result.isSuccess(result)) return Effect.succeed(Result.succeed(result.success))
    const { failure } = result
    return failure instanceof StorageError ? Effect.fail(failure) : Effect.succeed(Result.fail(failure))
  })

/**
 * Gives a function that makes a check part of the next group of its tenant. The group begins to read after that, so its
 * answers are as exact as those of a check alone. Within a transaction, a check reads by itself.
 */
export const makeGroupedChecks = Effect.gen(function* () {
  const transactor = yield* Transactor
  const read = (checks: ReadonlyArray<Check>): Effect.Effect<ReadonlyArray<Answered>, StorageError> =>
    Batch.run(checks.map(answered), () => neverApart())
  const { submit } = yield* GroupCommit.make(read, {
    operation: "Entitlements.check",
    name: "the queue of checks",
    maxGroup: MAX_CHECKS,
  })

  return (check: Effect.Effect<Entitlement, Refusal | StorageError, CurrentTenant>) =>
    Effect.flatMap(Effect.all([transactor.inTransaction, Batch.isMember]), ([isNested, isMember]) =>
      isNested || isMember
        ? check
        : Effect.contextWith((context: Context.Context<CurrentTenant>) =>
            // With what the caller provides, such as its clock and its trace.
            Effect.flatMap(submit(Effect.provideContext(check, context)), Effect.fromResult),
          ),
    )
})

/** No check recovers from a part that fails. */
const neverApart = (): StorageError =>
  new StorageError({
    operation: "Entitlements.check",
    retryable: true,
    cause: new Error("a part of a check has failed"),
  })
