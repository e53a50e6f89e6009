/**
 * Counts the hand-written files that name a resource.
 *
 * It counts files below `src` of a package that name the resource outside of comments. It does not count: files that
 * are deliberately hand-written, each listed below with a reason; tests, examples, the simulation and the pages of
 * the dashboard; generated files.
 */
import { globSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { read, root } from "./Documents.ts"

/** The resource that is counted, and the most files. The aim is 12: see docs/decisions/0019. */
const PILOT = { name: /threshold/i, most: 11 }

/** A read-only field of it, an instant. The aim is 4. */
const FIELD = { name: /lastFiredAt|last_fired_at/, most: 4 }

/** Crossing and firing are deliberately hand-written, because concurrency is what matters there. */
const FIRING = [
  "core/src/EventCatalogue.ts",
  "core/src/usage/ThresholdEvent.ts",
  "core/src/usage/UsageStore.ts",
  "http/src/api/WebhookExamples.ts",
  "memory/src/Memory.ts",
  "memory/src/MemoryInspector.ts",
  "memory/src/ThresholdFirings.ts",
  "memory/src/UsageTable.ts",
  "postgres/src/functions/Functions.ts",
  "postgres/src/functions/ThresholdFunctions.ts",
  "postgres/src/functions/UsageFunctions.ts",
  "postgres/src/stores/UsageAppend.ts",
  "billwright/src/events/EventMap.ts",
  "billwright/src/events/EventTypeBridge.ts",
]

/** The contract of firing, and tests of transactions that look at all stored data. */
const FIRING_TESTED = [
  "testing/src/StorageContract.ts",
  "testing/src/StorageModel.ts",
  "testing/src/contract/EventTailContract.ts",
  "testing/src/contract/Everything.ts",
  "testing/src/contract/ThresholdEventContract.ts",
  "testing/src/contract/ThresholdFiringContract.ts",
  "testing/src/contract/TotalsContract.ts",
  "testing/src/contract/TransactorContract.ts",
  "testing/src/contract/UndoContract.ts",
  "testing/src/contract/UsageProbe.ts",
  "testing/src/model/Command.ts",
  "testing/src/model/Interpreter.ts",
  "testing/src/model/ReferenceStorage.ts",
  "testing/src/model/World.ts",
]

const withoutComments = (code: string): string =>
  code.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(?<![:"])\/\/.*$/gm, "")

const filesThatName = (name: RegExp): ReadonlyArray<string> =>
  globSync("packages/*/src/**/*.ts", { cwd: root })
    .filter((file) => name.test(withoutComments(read(file))))
    .map((file) => file.replace(/^packages\//, ""))
    .toSorted()

describe("usage thresholds", () => {
  const named = filesThatName(PILOT.name)
  const byHand = [...FIRING, ...FIRING_TESTED]

  it("are named in no more files than the limit", () => {
    const files = named.filter((file) => !byHand.includes(file))
    assert.isAtMost(files.length, PILOT.most, files.join("\n"))
  })

  it("have no file on the list of exceptions without need", () => {
    assert.deepStrictEqual(
      byHand.filter((file) => !named.includes(file)),
      [],
    )
  })

  it("have a read-only field that is named in no more files than the limit, besides those of firing", () => {
    const files = filesThatName(FIELD.name).filter((file) => !byHand.includes(file))
    assert.isAtMost(files.length, FIELD.most, files.join("\n"))
  })
})
