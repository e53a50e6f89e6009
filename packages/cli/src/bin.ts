#!/usr/bin/env node
/**
 * The entry point of the `billwright` command.
 *
 * Node caches compiled code between runs in a folder for temporary files, so commands start in half the time.
 * `NODE_COMPILE_CACHE` names another folder, and `NODE_DISABLE_COMPILE_CACHE=1` turns it off. Schemas are compiled when
 * they are first used, which saves work in every request of a server.
 */
import { problemOfNode } from "@billwright/node/version"
import * as V8Settings from "./V8Settings.ts"

// Checked first, because an older Node can't load the rest.
const problem = problemOfNode()
if (problem !== undefined) {
  console.error(`billwright: ${problem}`)
  process.exit(1)
}
const { enableCompileCache } = await import("node:module")
enableCompileCache()
V8Settings.start()
await import("effect/schema/SchemaJITCompiler/enable")
await import("./Main.ts")
