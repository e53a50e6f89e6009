/**
 * Tests docs/webhooks.md: its diagram and tables must match the code, and its numbers must match named constants.
 * webhooks-examples.test.ts runs its examples, and docs.test.ts tests what all documents have.
 */
import { globSync } from "node:fs"
import {
  Delivery,
  DeliveryMachine,
  Endpoint,
  EndpointUrl,
  EventCatalogue,
  RetryPolicy,
  type Tenant,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { read, root, section, table, withoutBlocks, blocks } from "./Documents.ts"

const text = read("docs/webhooks.md")
const plain = (cell: string): string => cell.replaceAll("`", "")

type State = DeliveryMachine.DeliveryState
type Happening = DeliveryMachine.DeliveryEvent

const NOW = Date.parse("2026-11-21T12:00:00.000Z")
const modes: ReadonlyArray<Tenant.Mode> = ["live", "test"]

/** One state of each kind. A new kind that is missing here doesn't compile. */
const happenings: { readonly [Tag in Happening["_tag"]]: Extract<Happening, { readonly _tag: Tag }> } = {
  Succeeded: { _tag: "Succeeded" },
  AttemptFailed: { _tag: "AttemptFailed", notBefore: undefined },
  Gone: { _tag: "Gone" },
  Lost: { _tag: "Lost" },
  Released: { _tag: "Released" },
  EndpointDisabled: { _tag: "EndpointDisabled" },
  EndpointDeleted: { _tag: "EndpointDeleted" },
  Unreadable: { _tag: "Unreadable" },
}

/** The new state of a delivery: status, reason, when it is due. */
const outcomeOf = (state: State, backOff: number): string => {
  if (state.status !== "Pending") return `${state.status} ${"reason" in state ? state.reason : "—"} —`
  if (state.dueAt === NOW) return "Pending — now"
  assert.strictEqual(state.dueAt, NOW + backOff)
  return "Pending — after the back-off"
}

/**
 * Every transition of the machine, from every number of attempts, as "event → outcome". The first transition is
 * written here: storage creates deliveries, and the contract suite tests that.
 */
const transitions = (): ReadonlySet<string> => {
  const found = new Set(["published, replayed → Pending — now"])
  for (const mode of modes) {
    const policy = RetryPolicy.defaults[mode]
    for (const event of Object.values(happenings)) {
      const outcomes = Array.from({ length: policy.maxAttempts + 1 }, (_, attemptCount) => {
        const state = { status: "Pending", attemptCount, dueAt: NOW - 1 } as const
        const after = DeliveryMachine.next(state, event, { policy, now: NOW, random: 0.5 })
        return outcomeOf(after, RetryPolicy.delayMillis(policy, after.attemptCount, 0.5))
      })
      const depends = new Set(outcomes).size > 1
      for (const outcome of outcomes) {
        const condition = outcome.startsWith("Pending") ? ", attempts left" : ", none left"
        found.add(`${event._tag}${depends ? condition : ""} → ${outcome}`)
      }
    }
  }
  return found
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** 5119000 as `1 h 25 min 19 s`. */
const duration = (millis: number): string => {
  const parts = [
    [Math.floor(millis / HOUR), "h"],
    [Math.floor((millis % HOUR) / MINUTE), "min"],
    [(millis % MINUTE) / SECOND, "s"],
  ] as const
  const shown = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount} ${unit}`)
  return shown.length === 0 ? "0 s" : shown.join(" ")
}

describe("docs/webhooks.md: deliveries", () => {
  const deliveries = section(text, "Deliveries")

  it("draws all transitions of the machine, and no others", () => {
    const [diagram = ""] = blocks(deliveries, "mermaid")
    const drawn = [...diagram.matchAll(/^ +(\S+) --> (\w+): (.+)$/gm)].map(
      ([, from, to, label]) => `${from} ${label} → ${to}`,
    )
    const known = [...transitions()].map((transition) => {
      const [label = "", outcome = ""] = transition.split(" → ")
      return `${label.startsWith("published") ? "[*]" : "Pending"} ${label} → ${outcome.split(" ")[0]}`
    })
    assert.deepStrictEqual(drawn.toSorted(), known.toSorted())
    const ends = [...diagram.matchAll(/^ +(\w+) --> \[\*\]$/gm)].map(([, from]) => from)
    assert.deepStrictEqual(ends, ["Delivered", "Failed"])
    // The diagram contains nothing else.
    assert.lengthOf(diagram.trim().split("\n"), 1 + drawn.length + ends.length)
  })

  it("lists for each transition the status, the reason and when it is due", () => {
    const rows = table(deliveries, "event").map((row) => {
      const [event = "", , status, reason, due] = row.map(plain)
      return `${event} → ${status} ${reason} ${due}`
    })
    assert.deepStrictEqual(rows.toSorted(), [...transitions()].toSorted())
  })

  it("says that Delivered and Failed are final", () => {
    const finals: ReadonlyArray<State> = [
      { status: "Delivered", attemptCount: 1 },
      ...Delivery.failureReasons.map((reason): State => ({ status: "Failed", attemptCount: 1, reason })),
    ]
    for (const state of finals)
      for (const event of Object.values(happenings))
        assert.strictEqual(
          DeliveryMachine.next(state, event, { policy: RetryPolicy.live, now: NOW, random: 0.5 }),
          state,
        )
    assert.deepStrictEqual(Delivery.DeliveryStatus.literals, ["Pending", "Delivered", "Failed"])
  })

  it("has the computed schedules", () => {
    const columns = modes.map((mode) => {
      const policy = RetryPolicy.defaults[mode]
      assert.strictEqual(policy.jitter, 0.2) // "±20 %"
      let since = 0
      return Array.from({ length: RetryPolicy.live.maxAttempts }, (_, index) => {
        if (!RetryPolicy.allowsAfter(policy, index)) return ["—", "—"]
        if (index === 0) return ["—", "0 s"]
        const delay = RetryPolicy.delayMillis(policy, index, 0.5)
        since += delay
        return [duration(delay), duration(since)]
      })
    })
    const expected = Array.from({ length: RetryPolicy.live.maxAttempts }, (_, index) => [
      String(index + 1),
      ...columns.flatMap((column) => column[index] ?? []),
    ])
    assert.deepStrictEqual(table(section(text, "Retries"), "attempt"), expected)
  })

  it.each<[string, string, ReadonlyArray<string>]>([
    ["Why a delivery failed", "`reason`", Delivery.failureReasons],
    ["Why an attempt had no answer", "`error`", Delivery.attemptErrors],
    ["What disables an endpoint", "`disabled_reason`", Endpoint.disabledReasons],
  ])("explains each of them: %s", (heading, column, all) => {
    assert.deepStrictEqual(
      table(section(text, heading), column).map(([code = ""]) => plain(code)),
      all,
    )
  })
})

/** The numbers in the sources, by the names of their constants. */
const constants = (): ReadonlyMap<string, ReadonlySet<number>> => {
  const found = new Map<string, Set<number>>()
  const files = [
    "packages/{core,billwright}/src/{webhooks,events,verify}/*.ts",
    "packages/core/src/shared/Page.ts",
    "packages/node/src/*.ts",
  ]
  for (const file of globSync(files, { cwd: root })) {
    for (const [, name = "", product = ""] of read(file).matchAll(
      /^(?:export )?const ([A-Z][A-Z0-9_]+)(?:: \w+)? = ([\d_]+(?: \* [\d_]+)*)$/gm,
    )) {
      const value = product.split(" * ").reduce((all, part) => all * Number(part.replaceAll("_", "")), 1)
      found.set(name, (found.get(name) ?? new Set()).add(value))
    }
  }
  return found
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  h: HOUR,
  days: DAY,
  KiB: 1_024,
  MiB: 1_048_576,
}
const QUANTITY = /(\d[\d,]*)(?: (ms|s|h|days|KiB|MiB|characters)\b)?/

/** `64 KiB` as 65536, `15 s` as 15000. */
const amountOf = (quantity: string): number => {
  const [, digits = "", unit = ""] = QUANTITY.exec(quantity) ?? []
  return Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? 1)
}

/** Numbers that are not limits of ours: statuses, standards, and the spread that the schedule's test uses. */
const OTHERS =
  /(?<!,)\b(2xx|400|409|410|429|500|502|503|504)\b|2\^53|±20 %|ISO 4217|since 1970|[A-Z]\w*-?\d+(-\w+)?|^\d+\. |^#.*/gm

/** Rows of the tables that have their own tests. */
const CHECKED = /^\| (\d+|`https?:|`--).*/gm

describe("docs/webhooks.md: numbers", () => {
  const limits = table(section(text, "Limits"), "limit")

  it("takes its limits from named constants", () => {
    const known = constants()
    for (const [limit, value = "", name = ""] of limits) {
      const values = [...(known.get(plain(name)) ?? [])]
      assert.lengthOf(values, 1, `${limit}: there should be one value of ${name}`)
      const unit = plain(name).endsWith("_SECONDS") ? SECOND : 1
      assert.strictEqual(amountOf(value), values[0]! * unit, `${limit}: ${name}`)
    }
  })

  it("has no number that is not a limit", () => {
    const tabulated = new Set(limits.map(([, value = ""]) => value))
    const rest = withoutBlocks(text.replace(section(text, "Limits"), ""))
      .replaceAll(CHECKED, "")
      .replaceAll(/`[^`]*`|\]\([^)]*\)/g, "")
      .replaceAll(OTHERS, "")
    const quantities = [...rest.matchAll(new RegExp(QUANTITY, "g"))].map(([each]) => each.replace(/,$/, ""))
    assert.isAtLeast(quantities.length, 20)
    assert.deepStrictEqual(
      quantities.filter((each) => each !== "0 s" && !tabulated.has(each)),
      [],
    )
  })

  it("has the defaults of the command's flags", () => {
    const source = read("packages/cli/src/Dispatch.ts")
    const known = constants()
    for (const [flag = "", value] of table(section(text, "The dispatcher"), "flag of `serve`")) {
      const declared = new RegExp(`"${plain(flag).slice(2)}"[\\s\\S]*?withDefault\\((.*?)\\)`).exec(source)
      const field = declared?.[1]?.replace("DEFAULTS.", "") ?? ""
      const [name = "", divisor] = new RegExp(`  ${field}: (.*),`).exec(source)?.[1]?.split(" / ") ?? []
      const number = Number.isNaN(Number(name)) ? [...(known.get(name) ?? [])][0]! : Number(name)
      assert.strictEqual(Number(value), divisor === undefined ? number : number / SECOND, flag)
    }
  })

  it("judges URLs as the code does", () => {
    for (const [url = "", live, test] of table(section(text, "Where webhooks may go"), "URL")) {
      const verdicts = modes.map((mode) =>
        EndpointUrl.problemOf(plain(url), mode) === undefined ? "yes" : "no",
      )
      assert.deepStrictEqual([live, test], verdicts, url)
    }
    assert.include(text, `ports are ${EndpointUrl.LIVE_PORTS.join(" and ")}`)
  })

  it("names the built-in event types", () => {
    const names = EventCatalogue.builtIn.map(({ name }) => `\`${name}\``).toSorted()
    const [sentence = ""] = /The built-in ones are [^;]*/.exec(text) ?? []
    assert.deepStrictEqual(sentence.match(/`[^`]+`/g), names)
  })
})
