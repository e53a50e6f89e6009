/**
 * What needs a meter. Plans say it.
 */
import { Context, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"

/**
 * Gives what needs the meter with a key, such as `the plan "pro" (version 3) bills by it`, and `undefined` if nothing does.
 * Nothing begins to need it before the current transaction ends. Without plans, nothing does.
 */
export class MeterNeed extends Context.Reference<
  (key: string) => Effect.Effect<string | undefined, StorageError, CurrentTenant>
>("@billwright/core/usage/MeterNeed", { defaultValue: () => () => Effect.succeed(undefined) }) {}
