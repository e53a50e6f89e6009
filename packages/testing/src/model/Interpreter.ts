/**
 * Runs commands on a world.
 */
import {
  ApiKeyStore,
  type AppendResult,
  type Billing,
  Collections,
  Customer,
  IdempotencyStore,
  type IdGenerator,
  type OnceOutcome,
  Threshold,
  ThresholdEvent,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import { asTenant, type Patience, same } from "../contract/ContractTest.ts"
import { totalKey } from "../contract/UsageProbe.ts"
import * as Sample from "../Sample.ts"
import type { Command } from "./Command.ts"
import { driveMeters, meterCommand } from "./MeterInterpreter.ts"
import type { ReferenceStorage } from "./ReferenceStorage.ts"
import { claim, lookAtDeliveries, webhookCommand } from "./WebhookInterpreter.ts"
import {
  both,
  dayOf,
  EndedOnPurpose,
  orUndefined,
  pageQuery,
  pick,
  undoable,
  type World,
  type WorldTenant,
} from "./World.ts"

type CommandOf<Name extends Command["command"]> = Extract<Command, { readonly command: Name }>
type Services = Billing.Storage | IdGenerator | Patience
const EMAILS = ["a@example.com", "b@example.com", "c@example.com"]
const emailOf = (index: number): string => EMAILS[index % EMAILS.length]!
/** One text for things whose order is unspecified. */
const sorted = <A>(items: ReadonlyArray<A>, keyOf: (item: A) => string): ReadonlyArray<A> =>
  [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

const customerCommand = Effect.fnUntraced(function* (
  world: World,
  reference: ReferenceStorage,
  command: CommandOf<"createCustomer" | "modifyCustomer" | "eraseCustomer" | "listCustomers">,
) {
  const store = (yield* Collections).of(Customer.customers)
  const { customers } = world.things
  switch (command.command) {
    case "createCustomer": {
      const customer = yield* Sample.customer({ email: emailOf(command.email) })
      customers.push(customer.id)
      return yield* both("insert a customer", store.insert(customer), () => {
        reference.insertCustomer(customer)
        return true
      })
    }
    case "modifyCustomer": {
      const id = yield* pick(customers, command.customer, Sample.customerId)
      const email = emailOf(command.email)
      const real = store.modify(id, (old) =>
        command.fails ? Effect.fail("no") : Effect.succeed({ ...old, email }),
      )
      yield* both("modify a customer", real, () => {
        const old = reference.findCustomer(id)
        if (Option.isNone(old)) return old
        if (command.fails) return "no"
        reference.setCustomer(id, { ...old.value, email })
        return reference.findCustomer(id)
      })
      return yield* both("find a customer", store.find(id), () => reference.findCustomer(id))
    }
    case "eraseCustomer": {
      const id = yield* pick(customers, command.customer, Sample.customerId)
      yield* both(
        "erase a customer",
        store.remove(id),
        () => reference.status(id) !== "unknown" && reference.erase(id),
      )
      return yield* both("look at a customer", Effect.all([store.find(id), store.status(id)]), () => [
        reference.findCustomer(id),
        reference.status(id),
      ])
    }
    case "listCustomers": {
      const email = command.email === null ? undefined : emailOf(command.email)
      const page = yield* pageQuery(command.page, customers, Sample.customerId)
      return yield* both("list customers", store.list({ email }, page), () =>
        reference.listCustomers(email, page),
      )
    }
  }
})

/** Publishes the events of what an append fired. */
const tell = ({ tenant, webhooks }: WorldTenant, { crossings, outcomes }: AppendResult): void => {
  if (crossings.length === 0) return
  const stored = outcomes.flatMap((outcome) => (outcome._tag === "Recorded" ? [outcome.record] : []))
  const [last] = stored.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1))
  const at = stored.map(({ createdAt }) => createdAt).reduce(DateTime.max)
  for (const event of ThresholdEvent.make(crossings, last!, at, tenant.mode)) webhooks.add(event)
}

const usageCommand = Effect.fnUntraced(function* (
  world: World,
  own: WorldTenant,
  command: CommandOf<"append" | "void" | "listRecords" | "totals">,
) {
  const store = yield* UsageStore
  const { reference } = own
  const { customers, records } = world.things
  switch (command.command) {
    case "append": {
      const made = yield* Effect.forEach(command.records, ({ customer, key, ...fields }) =>
        Effect.flatMap(pick(customers, customer, Sample.customerId), (id) =>
          Sample.record(id, { ...fields, idempotencyKey: key === null ? null : `key ${key}` }),
        ),
      )
      records.push(...made.map(({ id }) => id))
      const inOrder = ({ crossings, outcomes }: ReturnType<ReferenceStorage["append"]>) => ({
        outcomes,
        crossings: sorted(crossings, ({ periodKey, threshold }) => threshold.id + periodKey),
      })
      return yield* both("append", Effect.map(store.append(made), inOrder), () => {
        const result = reference.append(made)
        tell(own, result)
        return inOrder(result)
      })
    }
    case "void": {
      const id = yield* pick(records, command.record, Sample.usageRecordId)
      const at = dayOf(command.day)
      yield* both("void a record", store.void(id, at), () => reference.void(id, at))
      return yield* both("find a record", store.find(id), () => reference.findRecord(id))
    }
    case "listRecords": {
      const customerId = yield* pick(customers, command.customer, Sample.customerId)
      const filter = {
        customerId,
        productId: orUndefined(command.productId),
        unit: orUndefined(command.unit),
      }
      // Unspecified: whether a cursor may be the id of another customer's record of the same tenant.
      const ofCustomer = reference.state.records
        .filter((record) => record.customerId === customerId)
        .map(({ id }) => id)
      const page = yield* pageQuery(command.page, ofCustomer, Sample.usageRecordId)
      return yield* both("list records", store.list(filter, page), () => reference.listRecords(filter, page))
    }
    case "totals": {
      const customerId = yield* pick(customers, command.customer, Sample.customerId)
      const { boundaries, by } = command
      const query = {
        customerId,
        productId: orUndefined(command.productId),
        unit: orUndefined(command.unit),
        boundaries,
        by,
      }
      yield* both(
        "sum up",
        Effect.map(store.totals(query), (totals) => sorted(totals, totalKey)),
        () => sorted(reference.totals(query), totalKey),
      )
      return yield* both(
        "name the units",
        Effect.map(store.units(customerId, 100), (units) => sorted(units, String)),
        () => sorted(reference.units(customerId), String),
      )
    }
  }
})

const thresholdCommand = Effect.fnUntraced(function* (
  world: World,
  reference: ReferenceStorage,
  command: CommandOf<"insertThreshold" | "deleteThreshold" | "listThresholds">,
) {
  const store = (yield* Collections).of(Threshold.thresholds)
  const { customers, thresholds } = world.things
  switch (command.command) {
    case "insertThreshold": {
      const { period, productId, quantity, unit } = command
      const customerId = yield* pick(customers, command.customer, Sample.customerId)
      if (reference.status(customerId) !== "active") return
      const fields = { productId, unit, quantity: BigInt(quantity), period }
      const threshold = yield* Sample.of(Threshold.thresholds, customerId, fields)
      thresholds.push(threshold.id)
      return yield* both("insert a threshold", store.insert(threshold), () => {
        reference.insertThreshold(threshold)
        return true
      })
    }
    case "deleteThreshold": {
      const id = yield* pick(thresholds, command.threshold, Sample.idOf(Threshold.thresholds))
      yield* both("find a threshold", store.find(id), () => reference.findThreshold(id))
      return yield* both("delete a threshold", store.remove(id), () => reference.deleteThreshold(id))
    }
    case "listThresholds": {
      const customerId =
        command.customer === null ? undefined : yield* pick(customers, command.customer, Sample.customerId)
      const page = yield* pageQuery(command.page, thresholds, Sample.idOf(Threshold.thresholds))
      return yield* both("list thresholds", store.list({ customerId }, page), () =>
        reference.listThresholds(customerId, page),
      )
    }
  }
})

const keyCommand = Effect.fnUntraced(function* (
  world: World,
  reference: ReferenceStorage,
  command: CommandOf<"insertKey" | "changeKey" | "listKeys">,
) {
  const store = yield* ApiKeyStore
  const { keys } = world.things
  switch (command.command) {
    case "insertKey": {
      const expiresAt = command.expires === null ? null : dayOf(command.expires)
      const stored = yield* Sample.apiKey({ expiresAt })
      keys.push(stored.key.id)
      world.digests.set(stored.key.id, stored.digest)
      return yield* both("insert a key", store.insert(stored), () => reference.insertKey(stored))
    }
    case "changeKey": {
      const id = yield* pick(keys, command.key, Sample.apiKeyId)
      const at = dayOf(command.day)
      if (command.verb === "revoke") {
        yield* both("revoke a key", store.revoke(id, at), () =>
          reference.changeKey(id, ({ revokedAt }) => ({ revokedAt: revokedAt ?? at })),
        )
      } else if (command.verb === "expire") {
        yield* both("expire a key", store.expire(id, at), () => reference.expireKey(id, at))
      } else {
        yield* store.touch(id, at)
        for (const other of world.tenants) other.reference.changeKey(id, () => ({ lastUsedAt: at }))
      }
      yield* both("find a key", store.find(id), () => reference.findKey(id))
      const digest = world.digests.get(id) ?? (yield* Sample.digest)
      return yield* both("find a key by its digest", store.findByDigest(digest), () =>
        Option.fromUndefinedOr(
          world.tenants
            .map((other) => other.reference.findByDigest(digest))
            .find((found) => found !== undefined),
        ),
      )
    }
    case "listKeys": {
      const page = yield* pageQuery(command.page, keys, Sample.apiKeyId)
      return yield* both("list keys", store.list(page), () => reference.listKeys(page))
    }
  }
})

const inside = Effect.fnUntraced(function* (
  world: World,
  { commands, end }: CommandOf<"atomically" | "once">,
): Effect.fn.Return<void, EndedOnPurpose, Services> {
  yield* performAll(world, commands)
  if (end === "fail") return yield* Effect.fail(new EndedOnPurpose())
  if (end === "die") return yield* Effect.die(new EndedOnPurpose())
})

const once = Effect.fnUntraced(function* (
  world: World,
  reference: ReferenceStorage,
  command: CommandOf<"once">,
) {
  const store = yield* IdempotencyStore
  const request = Sample.request({
    key: `key ${command.key}`,
    fingerprint: `${command.fingerprint}`.repeat(64),
  })
  const now = dayOf(command.day)
  const expiresAt = DateTime.add(now, { days: 1 })
  const response = { status: 200, body: JSON.stringify(command.commands.length) }
  const known = reference.answer(request, now)
  const outcome = yield* undoable(
    world,
    store.once(request, { now, expiresAt }, Effect.as(inside(world, command), response)),
  )
  const expected: OnceOutcome = known ?? { _tag: "Ran", response }
  const isUndone = known === undefined && command.end !== "succeed"
  same(outcome, isUndone ? Option.none() : Option.some(expected), "run a request once")
  if (known === undefined && !isUndone) reference.remember({ request, response, expiresAt })
})

const perform = Effect.fnUntraced(function* (
  world: World,
  command: Command,
): Effect.fn.Return<void, unknown, Services> {
  const own = world.tenants[command.tenant]!
  const { reference, tenant } = own
  const run = Effect.gen(function* () {
    switch (command.command) {
      case "createCustomer":
      case "modifyCustomer":
      case "eraseCustomer":
      case "listCustomers":
        return yield* customerCommand(world, reference, command)
      case "append":
      case "void":
      case "listRecords":
      case "totals":
        return yield* usageCommand(world, own, command)
      case "insertThreshold":
      case "deleteThreshold":
      case "listThresholds":
        return yield* thresholdCommand(world, reference, command)
      case "insertMeter":
      case "redefineMeter":
      case "askMeter":
        return yield* meterCommand(world, reference, command)
      case "driveMeters":
        return yield* driveMeters(world)
      case "insertKey":
      case "changeKey":
      case "listKeys":
        return yield* keyCommand(world, reference, command)
      case "once":
        return yield* once(world, reference, command)
      case "atomically": {
        const { atomically } = yield* Transactor
        yield* undoable(world, atomically(inside(world, command)))
        return
      }
      case "claim":
        return yield* claim(world, command)
      case "lookAtDeliveries":
        return yield* lookAtDeliveries(own)
      default:
        return yield* webhookCommand(world, own, command)
    }
  })
  yield* asTenant(tenant)(run)
})

/** Runs commands one after another. */
export const performAll = (
  world: World,
  commands: ReadonlyArray<Command>,
): Effect.Effect<void, never, Services> =>
  Effect.orDie(Effect.forEach(commands, (command) => perform(world, command), { discard: true }))
