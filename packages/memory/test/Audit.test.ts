import { Customer, IdGenerator, Meter, SpendAlert, Tenant, Threshold } from "@billwright/core"
import { Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { CollectionTable } from "../src/CollectionTable.ts"
import { DeliveryTable } from "../src/DeliveryTable.ts"
import { EndpointTable } from "../src/EndpointTable.ts"
import { EventTable } from "../src/EventTable.ts"
import { Journal } from "../src/Journal.ts"
import { Outbox } from "../src/Outbox.ts"
import { SpendMarkTable } from "../src/SpendMarkTable.ts"
import { StoredRecord } from "../src/UsageMeter.ts"
import { UsageTable } from "../src/UsageTable.ts"

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" as const }

describe("audit", () => {
  it.effect("reports a roll-up that differs from its records, and no other", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const customers = new CollectionTable<Customer.Customer>(journal, Customer.customers)
      const [events, endpoints] = [new EventTable(journal), new EndpointTable(journal)]
      const deliveries = new DeliveryTable(journal, events, endpoints)
      const outbox = new Outbox(journal, { customers, events, endpoints, deliveries })
      const meters = new CollectionTable<Meter.Meter>(journal, Meter.meters)
      const usage = new UsageTable(
        journal,
        customers,
        new CollectionTable(journal, Threshold.thresholds),
        meters,
        outbox,
        new SpendMarkTable(journal, new CollectionTable(journal, SpendAlert.spendAlerts)),
      )
      const customer = yield* Sample.customer()
      const next = DateTime.add(Sample.CREATED_AT, { days: 1 })
      yield* customers.insert(tenant, customer)
      yield* usage.append(tenant, [
        yield* Sample.record(customer.id, { quantity: 3 }),
        yield* Sample.record(customer.id, { quantity: 4, timestamp: next }),
      ])
      assert.deepStrictEqual(usage.audit(tenant), [])
      for (const { meter } of usage.meters()) for (const { sum } of [...meter.days()].slice(0, 1)) sum.add(5)
      assert.deepStrictEqual(usage.audit(tenant), [
        {
          customerId: customer.id,
          productId: "api",
          unit: "call",
          meterKey: null,
          combination: null,
          day: "2026-03-10",
          recordsQuantity: 3n,
          recordsCount: 1,
          rollupQuantity: 8n,
          rollupCount: 2,
        },
      ])
      assert.deepStrictEqual(usage.audit({ ...tenant, mode: "test" }), [])

      // A cell that differs, one that is missing, and one without records.
      for (const { meter } of usage.meters())
        for (const { sum } of [...meter.days()].slice(0, 1)) sum.subtract(5)
      const of = { productId: "api", unit: "call", aggregation: "max", dimensions: ["model"], counted: null }
      const meter = yield* Sample.of(Meter.meters, undefined, of as Partial<Meter.Meter>)
      yield* meters.insert(tenant, meter)
      const [kept] = [...usage.meterRollups.rollups()]
      const cells = kept!.cells
      assert.deepStrictEqual(usage.audit(tenant).length, 2)
      cells.build(
        Array.from(usage.meters(), (each) => each.meter),
        10,
      )
      assert.deepStrictEqual(usage.audit(tenant), [])
      cells.add(
        new StoredRecord([...usage.meters()][0]!.meter, yield* Sample.record(customer.id, { quantity: 7 })),
      )
      const difference = {
        customerId: customer.id,
        productId: "api",
        unit: "call",
        meterKey: meter.key,
        combination: [null],
        day: "2026-03-10",
        recordsQuantity: 3n,
        recordsCount: 1,
        rollupQuantity: 7n,
        rollupCount: 2,
      }
      assert.deepStrictEqual(usage.audit(tenant), [difference])
    }).pipe(Effect.provide(IdGenerator.layer)),
  )
})
