/**
 * Model tests: runs random commands on a storage and on a reference of a few plain lists. Their answers must be
 * equal, including errors.
 */
import type { Billing } from "@billwright/core"
import { Effect, type Layer } from "effect"
import { type ContractTest, Effort } from "./contract/ContractTest.ts"
import { emptyQueue } from "./contract/WebhookProbe.ts"
import { type Command, commands } from "./model/Command.ts"
import { performAll } from "./model/Interpreter.ts"
import { makeWorld } from "./model/World.ts"
import { forAll } from "./Property.ts"
import { inOwnTenant, open, type SuiteOptions } from "./StorageContract.ts"

/** The most commands of a run, without those inside of transactions. */
const MAX_COMMANDS = 60

/** Reads everything that a run may have written. */
const lookAtAll: ReadonlyArray<Command> = [0, 1, 2].flatMap((tenant): ReadonlyArray<Command> => {
  const page = { limit: 100, cursor: null }
  const ofCustomers = Array.from({ length: 8 }, (_, customer): ReadonlyArray<Command> => [
    { command: "listRecords", tenant, customer, productId: null, unit: null, page },
    {
      command: "totals",
      tenant,
      customer,
      productId: null,
      unit: null,
      by: "meter",
      boundaries: [undefined, undefined],
    },
  ])
  return [
    { command: "listCustomers", tenant, email: null, page },
    { command: "listThresholds", tenant, customer: null, page },
    { command: "listKeys", tenant, page },
    { command: "listEndpoints", tenant, status: null, page },
    {
      command: "listEvents",
      tenant,
      type: null,
      customer: null,
      from: null,
      before: null,
      status: null,
      page,
    },
    { command: "listDeliveries", tenant, event: null, endpoint: null, status: null, page },
    { command: "lookAtDeliveries", tenant },
    ...ofCustomers.flat(),
  ]
})

/** The only test of the model. */
export const contract = (test: ContractTest): void => {
  test(
    "gives the same answers as the reference, for random commands",
    Effect.gen(function* () {
      const effort = yield* Effort
      yield* forAll(commands(MAX_COMMANDS), effort, (list) => {
        const run = Effect.gen(function* () {
          yield* emptyQueue
          const world = yield* makeWorld
          yield* performAll(world, [...list, ...lookAtAll])
        })
        return inOwnTenant(run)
      })
    }),
  )
}

/**
 * Registers a test with `options.runs` random runs of up to 60 commands each. The commands are the methods of every
 * port, in nested transactions that fail or die, for three tenants. Each run first ends every pending delivery of the
 * storage. Commands run one after another; concurrency is tested by `StorageContract`.
 *
 * A failure prints the smallest list of commands that shows it, and the seed. `options.seed` repeats it. The same
 * seed gives the same commands on every adapter.
 */
export const suite = <R, E>(
  name: string,
  storage: Layer.Layer<Billing.Storage | R, E>,
  options: SuiteOptions = {},
): void => open(name, storage, options, contract)
