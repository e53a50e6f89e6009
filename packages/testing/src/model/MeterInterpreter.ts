/**
 * Runs the commands of meters on a world.
 */
import { Meter, Rollup } from "@billwright/core"
import { Effect, Option } from "effect"
import { asTenant } from "../contract/ContractTest.ts"
import * as MeterProbe from "../contract/MeterProbe.ts"
import { cutFor } from "../generators/MeterGenerators.ts"
import * as Sample from "../Sample.ts"
import type { Command } from "./Command.ts"
import { valuesOf } from "./ReferenceMeter.ts"
import type { MeterRow, ReferenceStorage } from "./ReferenceStorage.ts"
import { both, pick, type World } from "./World.ts"

type MeterCommand = Extract<Command, { readonly command: "insertMeter" | "redefineMeter" | "askMeter" }>

const pickMeter = (world: World, index: number) => pick(world.things.meters, index, Sample.idOf(Meter.meters))

/** What the reference expects of a query. */
const expected = (
  reference: ReferenceStorage,
  row: MeterRow | undefined,
  customerId: string,
  { boundaries, ...cut }: Extract<MeterCommand, { readonly command: "askMeter" }>,
) => {
  if (row?.answering === undefined) return { _tag: "Gone" }
  const own = reference.state.records.filter(
    (record) =>
      record.customerId === customerId &&
      record.productId === row.productId &&
      record.unit === row.unit &&
      record.voidedAt === null,
  )
  const query = { boundaries, ...cutFor(row.answering, cut) }
  return {
    _tag: "Totals",
    totals: MeterProbe.inOrder(valuesOf(row.answering, own, query)),
    whole: MeterProbe.inOrder(valuesOf(row.answering, own, { ...query, groupBy: [] })),
  }
}

export const meterCommand = Effect.fnUntraced(function* (
  world: World,
  reference: ReferenceStorage,
  command: MeterCommand,
) {
  const store = yield* MeterProbe.collection
  switch (command.command) {
    case "insertMeter": {
      const { definition, productId, unit } = command
      const key = `meter_${command.key}`
      const sample = yield* Sample.of(Meter.meters, undefined, { ...definition, key, productId, unit })
      const meter = Rollup.begun(sample)
      world.things.meters.push(meter.id)
      return yield* both("insert a meter", store.insert(meter), () => reference.insertMeter(meter))
    }
    case "redefineMeter": {
      const id = yield* pickMeter(world, command.meter)
      const real = Effect.map(MeterProbe.redefine(id, command.definition), Option.isSome)
      return yield* both("redefine a meter", real, () => reference.redefineMeter(id, command.definition))
    }
    case "askMeter": {
      const id = yield* pickMeter(world, command.meter)
      const customerId = yield* pick(world.things.customers, command.customer, Sample.customerId)
      const row = reference.findMeter(id)
      const found = yield* store.find(id)
      const instants = command.boundaries.filter((boundary) => boundary !== undefined)
      const isLevel = row?.answering?.aggregation === "time_weighted"
      if (isLevel && instants.length < 2) return
      const asked = { ...command, boundaries: isLevel ? instants : command.boundaries }
      const generation = Option.match(found, { onNone: () => 1, onSome: (meter) => meter.generation })
      const query = { boundaries: asked.boundaries, ...cutFor(row?.answering ?? NOTHING, asked) }
      const real = Effect.map(
        MeterProbe.askFor(customerId, { meterId: id, generation, ...query }),
        (answer) =>
          answer._tag === "Totals"
            ? {
                ...answer,
                totals: MeterProbe.inOrder(answer.totals),
                whole: MeterProbe.inOrder(answer.whole),
              }
            : answer,
      )
      return yield* both("ask a meter", real, () => expected(reference, row, customerId, asked))
    }
  }
})

const NOTHING = MeterProbe.definition()

/** Does all work on the meters of all tenants. */
export const driveMeters = Effect.fnUntraced(function* (world: World) {
  for (const { reference, tenant } of world.tenants) {
    for (const { id } of reference.state.meters) yield* MeterProbe.work(id).pipe(asTenant(tenant))
    reference.buildMeters()
  }
})
