/** Prisma's client on a pool of `pg`, for raw queries: what `prisma generate` writes for a schema without models. */
import { createRequire } from "node:module"
import { PrismaPg } from "@prisma/adapter-pg"
import { getPrismaClient } from "@prisma/client/runtime/client"
import type { Pool } from "pg"

/** The compiler of queries has no declarations. */
const require = createRequire(import.meta.url)

const PrismaClient = getPrismaClient({
  previewFeatures: [],
  clientVersion: "7.10.1",
  engineVersion: "d1b3f377ca835d73fd50954a5e22128b9ebdd6b8",
  activeProvider: "postgresql",
  inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: "AAAA" },
  compilerWasm: {
    getRuntime: async () => require("@prisma/client/runtime/query_compiler_fast_bg.postgresql.js"),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = require("@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.js")
      return new WebAssembly.Module(Buffer.from(wasm, "base64"))
    },
    importName: "./query_compiler_fast_bg.js",
  },
})

/** What a transaction of Prisma's is, as far as raw queries go. */
export interface PrismaTransaction {
  readonly $executeRawUnsafe: (text: string, ...values: Array<unknown>) => Promise<number>
  readonly $queryRawUnsafe: (text: string, ...values: Array<unknown>) => Promise<unknown>
}

export const makePrisma = (pool: Pool) => {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
  return {
    transaction: (work: (tx: PrismaTransaction) => Promise<unknown>): Promise<unknown> =>
      prisma.$transaction(work, { maxWait: 30_000, timeout: 60_000 }),
    close: () => prisma.$disconnect(),
  }
}
