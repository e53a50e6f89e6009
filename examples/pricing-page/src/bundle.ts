/** Bundles the script of the page, and `billwright/rating` with it, into one file for browsers. */
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const PAGE = fileURLToPath(new URL("page.ts", import.meta.url))

export const bundle = async (): Promise<string> => {
  const built = await rolldown({ input: PAGE, platform: "browser" })
  const { output } = await built.generate({ format: "esm", minify: true, codeSplitting: false })
  await built.close()
  return output[0].code
}
