import { Id, IdGenerator } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { advance, MAX_COUNTER } from "../../src/shared/IdMoment.ts"
import { fc, holds } from "../property.ts"
import invalid from "./typeid-invalid.json" with { type: "json" }
import valid from "./typeid-valid.json" with { type: "json" }

const bytesOf = (uuid: string) => Uint8Array.from(Buffer.from(uuid.replaceAll("-", ""), "hex"))

/** Base32 by arithmetic instead of by bits: another way to the same characters. */
const suffixByArithmetic = (bytes: Uint8Array): string =>
  BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
    .toString(32)
    .padStart(26, "0")
    .replaceAll(/[a-v]/g, (digit) => "abcdefghjkmnpqrstvwxyz"[digit.charCodeAt(0) - 97]!)

const uuidBytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
const letters = (characters: string, length: { readonly minLength: number; readonly maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...characters), ...length })
const prefixes = fc
  .tuple(letters("abcxyz", { minLength: 0, maxLength: 30 }), letters("az_", { minLength: 0, maxLength: 32 }))
  .map(([head, middle]) => (head === "" ? "" : `${head}${middle}z`))
const nearlyIds = letters("07_az", { minLength: 24, maxLength: 32 })

describe("TypeIDs that are valid", () => {
  it.each(valid.cases)("$rule: $typeid", ({ prefix, typeid, uuid }) => {
    assert.deepStrictEqual(Id.parse(typeid), { prefix, bytes: bytesOf(uuid) })
    assert.strictEqual(Id.format(prefix, bytesOf(uuid)), typeid)
    assert.strictEqual(Id.toUuid(typeid), uuid)
    assert.strictEqual(Id.fromUuid(prefix, uuid), typeid)
    assert.strictEqual(Id.encodeSuffix(bytesOf(uuid)), typeid.slice(-26))
    assert.deepStrictEqual(Id.decodeSuffix(typeid.slice(-26)), bytesOf(uuid))
    assert.strictEqual(suffixByArithmetic(bytesOf(uuid)), typeid.slice(-26))
  })
})

describe("TypeIDs that are not", () => {
  it.each(invalid.cases)("$rule: $typeid", ({ typeid }) => {
    assert.isUndefined(Id.parse(typeid))
  })

  it("has no UUID for what is no suffix", () => {
    assert.throws(() => Id.toUuid("cus_80000000000000000000000000"), "not a TypeID")
    assert.throws(() => Id.toUuid("cus"), "not a TypeID")
    assert.throws(() => Id.toUuid(""), "not a TypeID")
  })
})

describe("TypeIDs in general", () => {
  it("encodes bytes as arithmetic does", () =>
    holds([uuidBytes], (bytes) => assert.strictEqual(Id.encodeSuffix(bytes), suffixByArithmetic(bytes))))

  it("decodes what it encodes", () =>
    holds([prefixes, uuidBytes], (prefix, bytes) => {
      const id = Id.format(prefix, bytes)
      assert.deepStrictEqual(Id.parse(id), { prefix, bytes })
      assert.strictEqual(Id.fromUuid(prefix, Id.toUuid(id)), id)
    }))

  it("keeps UUIDs", () =>
    holds([fc.uuid()], (uuid) => {
      assert.strictEqual(Id.toUuid(Id.fromUuid("cus", uuid)), uuid)
      assert.strictEqual(Id.fromUuid("cus", uuid.toUpperCase()), Id.fromUuid("cus", uuid))
    }))

  it("sorts as bytes sort", () =>
    holds([uuidBytes, uuidBytes], (a, b) =>
      assert.strictEqual(
        Math.sign(Buffer.compare(a, b)),
        Id.encodeSuffix(a) < Id.encodeSuffix(b) ? -1 : Id.encodeSuffix(a) > Id.encodeSuffix(b) ? 1 : 0,
      ),
    ))

  it("takes any text apart or refuses it, and puts together what it took apart", () =>
    holds([fc.oneof(letters("a_0é\0😀\n", { minLength: 0, maxLength: 40 }), nearlyIds)], (text) => {
      const parsed = Id.parse(text)
      if (parsed !== undefined) assert.strictEqual(Id.format(parsed.prefix, parsed.bytes), text)
    }))
})

describe("the Schema of one kind of id", () => {
  const isCustomerId = Schema.is(Id.schema("cus"))
  const suffix = "01fwhe4ydgfk1shh6w1g60eecf"

  it("accepts ids with its prefix alone", () => {
    assert.isTrue(isCustomerId(`cus_${suffix}`))
    for (const id of [
      suffix,
      `_${suffix}`,
      `usg_${suffix}`,
      `CUS_${suffix}`,
      `cus${suffix}`,
      `acus_${suffix}`,
      `cus_cus_${suffix}`,
    ]) {
      assert.isFalse(isCustomerId(id), id)
    }
  })

  it("accepts well-formed suffixes alone", () => {
    for (const bad of [
      "",
      suffix.slice(1),
      `${suffix}0`,
      `8${suffix.slice(1)}`,
      suffix.toUpperCase(),
      `${suffix}\n`,
      ` ${suffix}`,
    ]) {
      assert.isFalse(isCustomerId(`cus_${bad}`), bad)
    }
  })
})

describe("the moment of an id", () => {
  const random32 = () => 0x0000_ff80 // a counter that starts at 511

  it("counts within a millisecond and starts anew in the next", () => {
    const moment = { millis: -1, counter: 0 }
    const moments = [5, 5, 4, 6].map((now) => {
      advance(moment, now, random32)
      return { ...moment }
    })
    assert.deepStrictEqual(moments, [
      { millis: 5, counter: 511 },
      { millis: 5, counter: 512 },
      { millis: 5, counter: 513 },
      { millis: 6, counter: 511 },
    ])
  })

  it("starts in the lower half of the counter, whatever the random source gives", () => {
    const moment = { millis: 0, counter: 0 }
    advance(moment, 1, () => 0xffff_ffff)
    assert.strictEqual(moment.counter, 2 ** 25 - 1)
    assert.strictEqual(MAX_COUNTER, 2 ** 26 - 1)
  })

  it("borrows the next millisecond when the counter is used up", () => {
    const moment = { millis: 5, counter: MAX_COUNTER - 1 }
    advance(moment, 5, random32)
    assert.deepStrictEqual(moment, { millis: 5, counter: MAX_COUNTER })
    advance(moment, 5, random32)
    assert.deepStrictEqual(moment, { millis: 6, counter: 511 })
    // The clock reaches the borrowed millisecond: its counter goes on.
    advance(moment, 6, random32)
    assert.deepStrictEqual(moment, { millis: 6, counter: 512 })
  })

  it("borrows also while the clock is behind", () => {
    const moment = { millis: 5, counter: MAX_COUNTER }
    advance(moment, 1, random32)
    assert.deepStrictEqual(moment, { millis: 6, counter: 511 })
  })
})

const millisOf = (id: string) => Number.parseInt(Id.toUuid(id).replaceAll("-", "").slice(0, 12), 16)

describe("IdGenerator", () => {
  const seeded = <A, E>(seed: number, effect: Effect.Effect<A, E, IdGenerator>) =>
    Effect.provide(effect, IdGenerator.layerSeeded(seed), { local: true })

  it.effect("makes UUIDs of version 7 and the variant of RFC 9562, with the prefix", () =>
    Effect.gen(function* () {
      const ids = yield* IdGenerator
      yield* TestClock.setTime(1_795_219_200_123)
      for (let i = 0; i < 2_000; i++) {
        const id = yield* ids.next("evt")
        assert.match(id, /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
        assert.match(Id.toUuid(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }
    }).pipe(Effect.provide(IdGenerator.layer)),
  )

  it.effect("carries the time of the clock, also beyond 32 bits of it", () =>
    Effect.gen(function* () {
      const ids = yield* IdGenerator
      // 2^32 ms is in 1970, 2^48 − 1 is the last millisecond of a UUIDv7.
      for (const millis of [
        0,
        1,
        255,
        65_535,
        65_536,
        2 ** 32 - 1,
        2 ** 32,
        1_795_219_200_123,
        2 ** 48 - 1,
      ]) {
        yield* TestClock.setTime(millis)
        assert.strictEqual(millisOf(yield* ids.next("cus")), millis)
      }
    }).pipe(Effect.provide(IdGenerator.layerSeeded(1))),
  )

  it.effect("rises strictly within a millisecond", () =>
    Effect.gen(function* () {
      const ids = yield* IdGenerator
      yield* TestClock.setTime(1_000)
      let last = ""
      for (let i = 0; i < 5_000; i++) {
        const id = yield* ids.next("usg")
        assert.isTrue(id > last)
        assert.strictEqual(millisOf(id), 1_000)
        last = id
      }
    }).pipe(Effect.provide(IdGenerator.layerSeeded(7))),
  )

  it.effect("rises strictly for any steps of the clock, back or forth, asked or given", () =>
    Effect.gen(function* () {
      const steps = fc.sample(
        fc.record({ millis: fc.integer({ min: 1_000, max: 1_005 }), isGiven: fc.boolean() }),
        { seed: 3, numRuns: 1_000 },
      )
      const ids = yield* IdGenerator
      const made: Array<string> = []
      for (const { isGiven, millis } of steps) {
        yield* TestClock.setTime(millis)
        made.push(isGiven ? ids.at("usg", millis) : yield* ids.next("usg"))
      }
      assert.isTrue(made.every((id, index) => index === 0 || id > made[index - 1]!))
      // A clock that was set back does not pull the time of ids ahead of the latest it ever showed.
      assert.isTrue(made.every((id) => millisOf(id) >= 1_000 && millisOf(id) <= 1_005))
    }).pipe(Effect.provide(IdGenerator.layerSeeded(11))),
  )

  it.effect("takes the clock's time again once the clock has caught up", () =>
    Effect.gen(function* () {
      const ids = yield* IdGenerator
      yield* TestClock.setTime(5_000)
      yield* ids.next("usg")
      yield* TestClock.setTime(1_000)
      assert.strictEqual(millisOf(yield* ids.next("usg")), 5_000)
      yield* TestClock.setTime(5_001)
      assert.strictEqual(millisOf(yield* ids.next("usg")), 5_001)
    }).pipe(Effect.provide(IdGenerator.layerSeeded(2))),
  )

  it.effect("draws a new start of the counter each millisecond and new random bits for each id", () =>
    Effect.gen(function* () {
      const ids = yield* IdGenerator
      const counters = new Set<string>()
      const randoms = new Set<string>()
      for (let i = 0; i < 500; i++) {
        yield* TestClock.setTime(1_000 + i)
        const uuid = Id.toUuid(yield* ids.next("usg"))
        counters.add(uuid.slice(15, 23))
        randoms.add(uuid.slice(24))
      }
      assert.isAbove(counters.size, 490)
      assert.strictEqual(randoms.size, 500)
    }).pipe(Effect.provide(IdGenerator.layerSeeded(5))),
  )

  it.effect("makes the same ids for the same seed and clock, others for another seed", () =>
    Effect.gen(function* () {
      const some = Effect.gen(function* () {
        const ids = yield* IdGenerator
        return [yield* ids.next("cus"), ids.at("usg", 1_795_219_200_007), yield* ids.next("evt")]
      })
      yield* TestClock.setTime(1_795_219_200_000)
      const first = yield* seeded(42, some)
      assert.deepStrictEqual(yield* seeded(42, some), first)
      assert.notDeepEqual(yield* seeded(43, some), first)
    }),
  )

  it.effect("makes other ids in another process", () =>
    Effect.gen(function* () {
      const one = Effect.gen(function* () {
        return yield* (yield* IdGenerator).next("cus")
      })
      const made = yield* Effect.all(
        Array.from({ length: 50 }, () => Effect.provide(one, IdGenerator.layer, { local: true })),
      )
      assert.strictEqual(new Set(made).size, 50)
    }),
  )

  it.effect("takes the time that it is given", () =>
    Effect.gen(function* () {
      const ids = yield* IdGenerator
      assert.strictEqual(millisOf(ids.at("usg", 1_795_219_200_000)), 1_795_219_200_000)
    }).pipe(Effect.provide(IdGenerator.layer)),
  )
})

describe("an id that follows from another", () => {
  const id = "evt_01kahd3kc8e0fsr8zknzqgf2h1"

  it("lies so far behind it", () =>
    holds([fc.integer({ min: 0, max: 2 ** 47 })], (distance) => {
      const suffix = Id.offset("dlv", id, distance)
      const before = BigInt(`0x${Id.toUuid(id).replaceAll("-", "")}`)
      const after = BigInt(`0x${Id.toUuid(suffix).replaceAll("-", "")}`)
      const low = 2n ** 48n
      assert.strictEqual(after % low, (before + BigInt(distance)) % low)
      assert.strictEqual(after / low, before / low)
      assert.match(suffix, /^dlv_/)
    }))

  it("is the same UUID under another name without a distance", () => {
    assert.strictEqual(Id.offset("dlv", id, 0), id.replace("evt", "dlv"))
  })
})
