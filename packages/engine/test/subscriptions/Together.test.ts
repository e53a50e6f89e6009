import { assert, describe, it } from "vitest"
import { type Effect, isRejected, nextDue, stepTogether, togetherOf } from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { creations, END, run, scripts, START } from "./Scripts.ts"
import { basic, done } from "./Subscriptions.ts"

const isInvoice = ({ kind }: Effect): boolean => kind === "invoice"

const subscribed = (startAt = START) =>
  done(null, { type: "create", plan: basic, quantities: { seats: "1" }, startAt }, START)

/** Some subscriptions with what was asked of each. */
const groups = fc.array(fc.tuple(creations, scripts), { minLength: 1, maxLength: 4 })
const RUNS = 40

describe("togetherOf", () => {
  it("has each event and each invoice once, at one instant, and no subscription twice on an invoice", () => {
    holds(
      [groups],
      (group) => {
        const members = group.map(([creation, script]) => run(creation, script))
        const shared = togetherOf(members)
        for (const [member, { effects }] of members.entries()) {
          const own = shared.flatMap((one): ReadonlyArray<Effect> =>
            one.kind === "event"
              ? one.member === member
                ? [one.effect]
                : []
              : one.causes.filter((cause) => cause.member === member).map(({ effect }) => effect),
          )
          const asked = effects.filter((effect) => effect.kind === "event" || isInvoice(effect))
          assert.sameMembers(own, asked)
        }
        const invoices = shared.flatMap((one) => (one.kind === "invoice" ? [one.causes] : []))
        for (const causes of invoices) {
          assert.lengthOf(new Set(causes.map(({ effect }) => effect.at)), 1)
          assert.deepStrictEqual(
            causes.map(({ member }) => member),
            [...new Set(causes.map(({ member }) => member))].toSorted((a, b) => a - b),
          )
        }
        // At each instant, all that have something to invoice share the first invoice.
        const instants = new Set(invoices.map(([{ effect }]) => effect.at))
        for (const at of members.length === 1 ? [] : instants) {
          const sharing = members.filter(({ effects }) =>
            effects.some((one) => isInvoice(one) && one.at === at),
          )
          const first = invoices.find(([{ effect }]) => effect.at === at)
          assert.lengthOf(first!, sharing.length)
        }
      },
      RUNS,
    )
  })

  it("leaves the effects of one subscription in their order", () => {
    holds(
      [creations, scripts],
      (creation, script) => {
        const { effects } = run(creation, script)
        const alone = togetherOf([{ effects }]).map((one) =>
          one.kind === "event" ? one.effect : one.causes[0].effect,
        )
        assert.deepStrictEqual(
          alone,
          effects.filter((effect) => effect.kind === "event" || isInvoice(effect)),
        )
      },
      RUNS,
    )
  })
})

describe("stepTogether", () => {
  const steps = (...args: Parameters<typeof stepTogether>) => {
    const all = stepTogether(...args)
    if (isRejected(all)) return assert.fail(JSON.stringify(all))
    return all
  }

  it("does what is due of all at the first instant, and leaves the others as they are", () => {
    const [first, second] = [subscribed(), subscribed()].map(({ subscription }) => subscription)
    const later = subscribed(START + 86_400_000).subscription
    const [a, b, c] = steps([first!, second!, later], END, 2)
    assert.strictEqual(a!.effects.length, b!.effects.length)
    assert.deepStrictEqual(a!.effects.filter(isInvoice).length, 1)
    assert.strictEqual(nextDue(c!.subscription)!.at, START + 31 * 86_400_000 + 86_400_000)
    const [unmoved] = steps([first!], nextDue(first!)!.at - 1, 9)
    assert.strictEqual(unmoved!.subscription, first)
    assert.deepStrictEqual(unmoved!.effects, [])
  })

  it("gives each subscription what it has alone, whatever the stops", () => {
    holds(
      [groups, fc.integer({ min: 1, max: 5 })],
      (group, most) => {
        const before = group.map(([creation, script]) => run(creation, script).subscription)
        const alone = before.map((subscription) => steps([subscription], END, 10_000)[0]!)
        let together = before.map((subscription) => ({ subscription, effects: [] as ReadonlyArray<Effect> }))
        for (;;) {
          const next = steps(
            together.map(({ subscription }) => subscription),
            END,
            most,
          )
          if (next.every(({ effects }) => effects.length === 0)) break
          together = next.map(({ effects, subscription }, member) => ({
            subscription,
            effects: [...together[member]!.effects, ...effects],
          }))
        }
        assert.deepStrictEqual(together, alone)
      },
      RUNS,
    )
  })
})
