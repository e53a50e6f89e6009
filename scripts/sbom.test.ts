import { join } from "node:path"
import { Spec, Validation } from "@cyclonedx/cyclonedx-library"
import { assert, it } from "vitest"
import { sbomOf } from "./sbom.ts"
import { readManifest, root } from "./workspace.ts"

const folder = (name: string) => join(root, "node_modules", name)
const cli = readManifest(join(root, "packages/cli"))
const sbom = () => sbomOf(cli, [join(root, "packages/cli"), folder("effect"), folder("@effect/sql-pg")])

const problemsOf = (json: string) => new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(json)

it("is valid CycloneDX 1.6, and the same each time", async () => {
  assert.isNull(await problemsOf(sbom()))
  assert.strictEqual(sbom(), sbom())
  assert.isNotNull(await problemsOf(sbom().replaceAll('"purl"', '"address"')))
})

it("names each package but its own, with version, licence and the hash of its tarball", () => {
  const { components, dependencies, metadata } = JSON.parse(sbom())
  assert.strictEqual(metadata.component.purl, `pkg:npm/%40billwright/cli@${cli.version}`)
  const { version } = readManifest(folder("effect"))
  const { hashes, ...effect } = components.find(({ name }: { readonly name: string }) => name === "effect")
  const purl = `pkg:npm/effect@${version}`
  const licenses = [{ expression: "MIT" }]
  assert.deepStrictEqual(effect, {
    type: "library",
    name: "effect",
    version,
    "bom-ref": purl,
    licenses,
    purl,
  })
  assert.match(hashes[0].content, /^[0-9a-f]{128}$/)
  assert.lengthOf(components, 2)
  const { dependsOn } = dependencies.find(
    ({ ref }: { readonly ref: string }) => ref === metadata.component.purl,
  )
  assert.include(dependsOn, purl)
})
