/** Bundles modules for the web into one file that imports nothing. */
import { rolldown } from "rolldown"

/** Bundles a module. `output` is the format. */
export const bundle = async (
  input: string,
  output: { readonly format: "esm" | "iife"; readonly name?: string; readonly minify?: boolean },
): Promise<string> => {
  const built = await rolldown({ input, platform: "browser" })
  const { output: chunks } = await built.generate({ ...output, codeSplitting: false })
  await built.close()
  const [chunk] = chunks
  // A module that is loaded when it is needed is in the same file.
  const left = [...chunk.imports, ...chunk.dynamicImports].filter((name) => name !== chunk.fileName)
  if (left.length > 0) throw new Error(`${input} imports what no browser has: ${left.join(", ")}`)
  return chunk.code
}
