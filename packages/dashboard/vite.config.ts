import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig, type Plugin } from "vite"

const outDir = fileURLToPath(new URL("dist/app", import.meta.url))

/** Lists the modules that the published application contains. Its package says whose they are. */
const modules: Plugin = {
  name: "modules",
  writeBundle: ({ dir }, output) => {
    if (dir !== outDir) return
    const ids = Object.values(output).flatMap((each) => (each.type === "chunk" ? each.moduleIds : []))
    writeFileSync(new URL("dist/bundled-modules.json", import.meta.url), JSON.stringify(ids))
  },
}

export default defineConfig({
  root: fileURLToPath(new URL("app", import.meta.url)),
  // Relative, since where the dashboard is mounted is known only when it is served.
  base: "./",
  plugins: [modules],
  oxc: { jsx: { runtime: "automatic" } },
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2023",
    // A data: address of a style or script would not pass the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Libraries mark their modules as those of a browser, which all of these are.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
})
