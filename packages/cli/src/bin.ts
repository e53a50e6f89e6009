#!/usr/bin/env node
/**
 * The entry point of the `billwright` command.
 *
 * Node caches compiled code between runs in a folder for temporary files, so commands start in half the time.
 * `NODE_COMPILE_CACHE` names another folder, and `NODE_DISABLE_COMPILE_CACHE=1` turns it off. Schemas are compiled when
 * they are first used, which saves work in every request of a server.
 *
 * A start makes many objects that stay. V8 takes them for a sign of much work, lets the space for new objects grow to
 * 32 MB, and rarely gives it back. So that space may grow only after the first seconds.
 */
import { problemOfNode } from "@billwright/node/version"

// Checked first, because an older Node can't load the rest.
const problem = problemOfNode()
if (problem !== undefined) {
  console.error(`billwright: ${problem}`)
  process.exit(1)
}
const { enableCompileCache } = await import("node:module")
enableCompileCache()
const { setFlagsFromString } = await import("node:v8")
/** By how much the space for new objects grows at a time. 2 is the default of V8. */
const growNewSpace = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)
const STARTED_MILLIS = 10_000
growNewSpace(1)
setTimeout(growNewSpace, STARTED_MILLIS, 2).unref()
await import("effect/schema/SchemaJITCompiler/enable")
await import("./Main.ts")
