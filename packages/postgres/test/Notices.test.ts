/** What a notification says, of this release and of older ones. */
import { assert, describe, it } from "@effect/vitest"
import * as Notices from "../src/Notices.ts"

const ONE = "0190a1b2-0000-7000-8000-000000000001"
const OTHER = "0190a1b2-0000-7000-8000-000000000002"

describe("a notification", () => {
  it("of an older process, or of a transaction, says that deliveries may be due", () => {
    assert.deepStrictEqual(Notices.read("billwright", "billwright 0b"), {
      sender: "0b",
      news: "due",
      worker: undefined,
      handed: [],
    })
    assert.deepStrictEqual(Notices.read("billwright", "billwright transaction")?.sender, "transaction")
  })

  it("is about its own schema only", () => {
    assert.isUndefined(Notices.read("billwright", "billwright_2 0b due"))
    assert.isUndefined(Notices.read("billwright", "billwright"))
    assert.isUndefined(Notices.read("billwright", ""))
  })

  it("names what was leased to a worker", () => {
    assert.deepStrictEqual(
      Notices.read("billwright", `billwright 0b events deadbeef ${ONE} (0,1) ${OTHER} (10,12)`),
      {
        sender: "0b",
        news: "events",
        worker: "deadbeef",
        handed: [
          { worker: "deadbeef", id: ONE, place: "(0,1)" },
          { worker: "deadbeef", id: OTHER, place: "(10,12)" },
        ],
      },
    )
  })

  it("loses what is incomplete, or can't be an id and a place", () => {
    const handed = (rest: string) => Notices.read("billwright", `billwright 0b due deadbeef ${rest}`)?.handed
    assert.lengthOf(handed(`${ONE} (0,1) ${OTHER}`) ?? [], 1)
    for (const rest of [`1f (0,1)`, `${ONE} 0,1`, `${ONE} (1234567890,1)`, `${ONE} (1,12345)`, "a b c d"]) {
      assert.deepStrictEqual(handed(rest), [], rest)
    }
  })
})
