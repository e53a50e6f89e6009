/**
 * The software bill of materials of a bundled package: CycloneDX 1.6, of the packages whose code is in it. It is the same
 * for the same bundle, so it has no time and no serial number.
 *
 * Hashes are those of the lockfile: of the tarballs that the registry has.
 */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library"
import { type Manifest, readManifest, root } from "./workspace.ts"

interface Locked {
  readonly integrity?: string
}

/** What the lockfile says of each folder of the workspace. */
const readLocked = (): Readonly<Record<string, Locked>> =>
  (JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> })
    .packages

/** The address of a package, by the rules of package URLs: https://github.com/package-url/purl-spec. */
const purlOf = ({ name, version }: Manifest): string => `pkg:npm/${name.replace("@", "%40")}@${version}`

const componentOf = (manifest: Manifest, { integrity }: Locked): Models.Component => {
  const [name, group] = manifest.name.split("/").toReversed()
  const purl = purlOf(manifest)
  const component = new Models.Component(Enums.ComponentType.Library, name!, {
    ...(group === undefined ? {} : { group }),
    version: manifest.version,
    purl,
    bomRef: purl,
  })
  component.licenses.add(new Models.LicenseExpression(String(manifest["license"])))
  if (integrity?.startsWith("sha512-") === true) {
    const digest = Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex")
    component.hashes.set(Enums.HashAlgorithm["SHA-512"], digest)
  }
  return component
}

/** The bill of materials of a package that contains the code of the packages of some folders, as JSON. */
export const sbomOf = (manifest: Manifest, folders: Iterable<string>): string => {
  const bom = new Models.Bom()
  const locked = readLocked()
  const whole = componentOf(manifest, {})
  bom.metadata.component = whole
  for (const folder of folders) {
    const own = readManifest(folder)
    if (own.name === manifest.name) continue
    const part = componentOf(own, locked[relative(root, folder)] ?? {})
    bom.components.add(part)
    whole.dependencies.add(part.bomRef)
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}
