/** Writes the page to `dist`, for any server of files. */
import { copyFile, mkdir, writeFile } from "node:fs/promises"
import { bundle } from "./bundle.ts"

const dist = new URL("../dist/", import.meta.url)

await mkdir(dist, { recursive: true })
await copyFile(new URL("index.html", import.meta.url), new URL("index.html", dist))
await writeFile(new URL("page.js", dist), await bundle())
