import { assert, describe, it } from "vitest"
import * as LiveList from "../../app/api/LiveList.ts"

interface Row {
  readonly id: string
  readonly status?: string
}

const page = (ids: string, has_more: boolean) => ({ data: [...ids].map((id): Row => ({ id })), has_more })
const list = (...pages: ReadonlyArray<ReturnType<typeof page>>): LiveList.Pages<Row> => ({
  pages,
  pageParams: pages.map((_, index) => (index === 0 ? undefined : pages[index - 1]?.data.at(-1)?.id)),
})
const idsOf = (pages: LiveList.Pages<Row>) =>
  LiveList.items(pages)
    .map(({ id }) => id)
    .join("")

describe("merging the newest page into a list", () => {
  it("puts new items before the rest, once", () => {
    const taken = LiveList.takeIn(list(page("fed", true), page("cba", false)), page("hgf", true))
    assert.strictEqual(idsOf(taken), "hgfedcba")
    assert.isFalse(taken.pages.at(-1)?.has_more)
  })

  it("replaces changed items", () => {
    const head = { data: [{ id: "c", status: "new" }, { id: "b" }], has_more: true }
    const taken = LiveList.takeIn(list(page("cb", true), page("a", true)), head)
    assert.deepEqual(LiveList.items(taken)[0], { id: "c", status: "new" })
    assert.isTrue(taken.pages.at(-1)?.has_more)
    assert.strictEqual(taken.pages.at(-1)?.data.at(-1)?.id, "a")
  })

  it("starts again when items in between are unknown", () => {
    const taken = LiveList.takeIn(list(page("cba", true)), page("zyx", true))
    assert.strictEqual(idsOf(taken), "zyx")
    assert.isTrue(taken.pages.at(-1)?.has_more)
  })

  it("drops missing items when the newest page is the whole list", () => {
    assert.strictEqual(idsOf(LiveList.takeIn(list(page("dcba", false)), page("da", false))), "da")
    assert.strictEqual(idsOf(LiveList.takeIn(list(page("a", false)), page("", false))), "")
  })

  it("keeps pages of the same size, each of which can be loaded again", () => {
    const taken = LiveList.takeIn(
      list(page("gf", true), page("ed", true), page("cb", true)),
      page("hg", true),
    )
    assert.deepEqual(
      taken.pages.map(({ data, has_more }) => [data.map(({ id }) => id).join(""), has_more]),
      [
        ["hg", true],
        ["fe", true],
        ["dc", true],
        ["b", true],
      ],
    )
    assert.deepEqual(taken.pageParams, [undefined, "g", "e", "c"])
  })

  it("keeps a last page from which further pages can be loaded", () => {
    const taken = LiveList.takeIn(list(page("dc", true)), page("dc", true))
    assert.strictEqual(taken.pages.at(-1)?.data.at(-1)?.id, "c")
    assert.isTrue(taken.pages.at(-1)?.has_more)
  })
})
