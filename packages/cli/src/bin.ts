#!/usr/bin/env node
/**
 * The entry point of the `billwright` command. What was compiled at one run is kept for the next, in a folder for
 * temporary files (`NODE_COMPILE_CACHE`; `NODE_DISABLE_COMPILE_CACHE=1` turns it off): commands start in half the
 * time. Schemas are compiled when they are used first, which takes work away from every request of a server.
 */
import { problemOfNode } from "@billwright/node/version"

// Before anything is loaded that an older Node can't load.
const problem = problemOfNode()
if (problem !== undefined) {
  console.error(`billwright: ${problem}`)
  process.exit(1)
}
const { enableCompileCache } = await import("node:module")
enableCompileCache()
await import("effect/schema/SchemaJITCompiler/enable")
await import("./Main.ts")
