import { defineConfig } from "vitest/config"

const project = (name: string, include: ReadonlyArray<string>, limits: { testTimeout: number }) => ({
  test: { name, include: [...include], ...limits },
})

// Unit projects never wait for anything real, so a slow test there is a hanging one.
const unit = (name: string) => project(name, [`packages/${name}/test/**/*.test.ts`], { testTimeout: 5_000 })

// These start databases, servers and processes.
const integration = (name: string, folder: string) =>
  project(name, [`${folder}/test/**/*.test.ts`], { testTimeout: 30_000 })

export default defineConfig({
  test: {
    projects: [
      unit("core"),
      unit("memory"),
      unit("testing"),
      unit("http"),
      project("repository", ["scripts/**/*.test.ts"], { testTimeout: 30_000 }),
      integration("postgres", "packages/postgres"),
      integration("cli", "packages/cli"),
      integration("examples", "examples/*"),
    ],
  },
})
