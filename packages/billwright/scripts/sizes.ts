/**
 * Prints what modules weigh in a bundle for the web: minified, and compressed as servers send it.
 *
 * `npm run sizes -w packages/billwright`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { bundle } from "../test/e2e/WebBundle.ts"

const MODULES = {
  "billwright/verify": `export { verify } from "billwright/verify"`,
  "billwright/rating": `export { rate } from "billwright/rating"`,
  "billwright/client": `export { createClient } from "billwright/client"`,
  "@billwright/core and memory": `
    import { Billing } from "@billwright/core"
    import { Memory } from "@billwright/memory"
    import { Layer } from "effect"
    export const billing = Billing.layer.pipe(Layer.provideMerge(Memory.layer))`,
}

// Inside the package, where modules are found as it finds them.
const folder = mkdtempSync(join(import.meta.dirname, "..", "dist", "sizes-"))
try {
  for (const [name, source] of Object.entries(MODULES)) {
    const entry = join(folder, "entry.js")
    writeFileSync(entry, source)
    const code = await bundle(entry, { format: "esm", minify: true })
    const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} kB`
    const size = Buffer.byteLength(code)
    console.log(`${name}: ${kilobytes(size)} minified, ${kilobytes(gzipSync(code).length)} gzip`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
