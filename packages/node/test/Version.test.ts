import { readFileSync } from "node:fs"
import { OLDEST, problemOfNode } from "@billwright/node/version"
import { assert, describe, it } from "vitest"

describe("the version of Node", () => {
  it("is refused when it is older than `engines` of the packages", () => {
    const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8")
    const { engines } = JSON.parse(manifest) as { readonly engines: { readonly node: string } }
    assert.strictEqual(engines.node, `>=${OLDEST}`)
    for (const version of ["18.20.4", "20.19.5", "22.18.0"]) {
      const sentence = `Billwright needs Node 22.19 or later, and this is Node ${version}`
      assert.strictEqual(problemOfNode(version), sentence)
    }
    for (const version of ["22.19.0", "22.20.1", "24.0.0", "26.1.0"])
      assert.isUndefined(problemOfNode(version))
    assert.isUndefined(problemOfNode())
  })
})
