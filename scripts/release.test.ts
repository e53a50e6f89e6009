import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { parse } from "yaml"
import { root } from "./workspace.ts"

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

const workflow = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as {
  readonly permissions: object
  readonly jobs: { readonly publish: { readonly permissions: object; readonly steps: ReadonlyArray<Step> } }
}
const { permissions, steps } = workflow.jobs.publish

it("a release has provenance, comes after all checks, and may do nothing else", () => {
  const ran = steps.flatMap(({ run }) => run ?? [])
  assert.isBelow(ran.indexOf(".ci/run"), ran.indexOf("npm run release"))
  assert.isAtLeast(ran.indexOf(".ci/run"), 0)
  const publishing = steps.find(({ run }) => run === "npm run release")
  assert.deepStrictEqual(publishing?.env, { NPM_CONFIG_PROVENANCE: "true" })
  assert.deepStrictEqual(permissions, { contents: "read", "id-token": "write" })
  assert.deepStrictEqual(workflow.permissions, {})
})

it("a release runs actions by commit, because a tag can be moved", () => {
  const used = steps.flatMap(({ uses }) => uses ?? [])
  assert.isNotEmpty(used)
  for (const action of used) assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/)
})
