/**
 * Implements `fork` and `exportCustomer`.
 */
import { Customer, snapshotText, takeSnapshot, withoutPersonalData } from "@billwright/core"
import { Effect } from "effect"
import type { Billing, Fork } from "../Billing.ts"
import type { CallOptions } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Calls } from "../runtime/Calls.ts"
import type { Engine } from "../runtime/Engine.ts"
import * as Ids from "../runtime/Ids.ts"
import type { ExportCustomer } from "./Fork.ts"
import { type MakeCalls, runFork } from "./RunFork.ts"

/** Reads a snapshot of a customer. A malformed id is that of nobody. */
const take = (id: unknown) =>
  Effect.suspend(() => takeSnapshot(Ids.of(Customer.CUSTOMER_ID_PREFIX)(id) as Customer.CustomerId))

export const makeFork = (engine: Engine, calls: Calls, makeCalls: MakeCalls): Billing<EventMap>["fork"] => {
  const fork = async <A>(
    customerId: string,
    work: (fork: Fork<EventMap>) => Promise<A>,
    options?: CallOptions,
  ): Promise<A> => {
    if (typeof work !== "function") {
      throw new ConfigurationError("fork takes a function: fork(customerId, async (f) => …)")
    }
    const snapshot = await calls.runAsIs(() => take(customerId), options)
    return runFork({ engine, snapshot, makeCalls }, work, options)
  }
  return fork as Billing<EventMap>["fork"]
}

const PERSONAL = "personalData"

const checkExport = (input: ExportCustomer): void => {
  const other = Object.keys(input).find((name) => name !== PERSONAL)
  if (other !== undefined) {
    throw new InvalidInputError(`input.${other}`, `is not a field of the input: the only one is ${PERSONAL}`)
  }
  if (input.personalData === undefined || typeof input.personalData === "boolean") return
  throw new InvalidInputError(PERSONAL, "must be true or false")
}

export const makeExport =
  (calls: Calls): Billing<EventMap>["exportCustomer"] =>
  async (customerId, input = {}, options?: CallOptions) => {
    checkExport(input)
    const snapshot = await calls.runAsIs(() => take(customerId), options)
    return snapshotText(input.personalData === false ? withoutPersonalData(snapshot) : snapshot)
  }
