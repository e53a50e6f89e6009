import { defineConfig } from "vitest/config"

const project = (
  name: string,
  include: ReadonlyArray<string>,
  options: { readonly testTimeout: number; readonly isolate?: boolean },
) => ({ test: { name, include: [...include], ...options } })

// Unit projects never wait for anything real, so a slow test there is a hanging one. Their files change nothing
// that they share, and importing it anew for each takes longer than the tests.
const unit = (name: string) =>
  project(name, [`packages/${name}/test/**/*.test.ts`], { testTimeout: 5_000, isolate: false })

// These start databases, servers and processes.
const integration = (name: string, folder: string) =>
  project(name, [`${folder}/test/**/*.test.ts`], { testTimeout: 30_000 })

/** Starts the command quickly, in tests that start it often. */
const COMMAND = "packages/cli/test/globalSetup.ts"

/** Counts how often blocks of code run. The counts need code that no other test has loaded before. */
const HTTP_COUNTED = "packages/http/test/server/HostileJson.test.ts"

/** What other people's tools make of the API: they run as processes and take their time. Of `npm run test:suites`. */
const HTTP_CONTRACT = "packages/http/test/contract/**/*.test.ts"

/** Clients that other people's tools generate from the API's document, in four languages: by `npm run test:clients`. */
const GENERATED_CLIENTS = "packages/http/test/clients/**/*.test.ts"

/** The contract suite as its README runs it, and whether it finds adapters that are broken on purpose. Of the same script. */
const BROKEN_ADAPTERS = "packages/testing/test/{Faults,Readme}.test.ts"

/** The fake of Stripe's API, which listens on a port of this machine. */
const FAKE_STRIPE = "packages/testing/test/stripe/**/*.test.ts"

/** What other people's fakes of Stripe say of ours and of the adapter: they run as processes. Of `npm run test:stripe`. */
const STRIPE_JUDGES = "packages/stripe/test/judges/**/*.test.ts"

/** Whether the simulations find bugs that are planted in them: each needs many seeds. Of the same script. */
const PLANTED_BUGS = "simulation/test/{Mutations,BillingMutations,PaymentsMutations}.test.ts"

/**
 * The query plans on tables with many rows, the storage contract on other kinds of connections, random commands, and
 * databases that crash, hang and start again. Of the same script.
 */
const POSTGRES_AT_LENGTH = [
  "packages/postgres/test/{ConnectionsContract,EventPlans,Plans,StorageModel}.test.ts",
  "packages/postgres/test/{Commits,CrashedCommit,EmbeddedPostgres,Failures,Unanswered}.test.ts",
]

/** The engine's arithmetic compared with that of a real Postgres. */
const ENGINE_ON_POSTGRES = "packages/engine/test/postgres/**/*.test.ts"

/** `billwright` on a real Postgres, in frameworks that are slow to load, and as its compiler emits it. */
const BILLWRIGHT_INTEGRATION = "packages/billwright/test/integration/**/*.test.ts"

/** The dashboard, and what else runs in a real browser: not of `npm test`, but of `npm run test:e2e`. */
const E2E = "{examples/*,packages/billwright,packages/dashboard}/test/e2e/**/*.test.ts"

/** Processes that are killed, stopped and starved on purpose: they take minutes. Run by `npm run faults`. */
const FAULTS = ["packages/cli/test/faults/**/*.test.ts"]

/** What needs a PgBouncer, which no package of npm brings: run by `npm run test:pgbouncer`. */
const PGBOUNCER = "packages/{billwright,cli,postgres}/test/pgbouncer/**/*.test.ts"

export default defineConfig({
  test: {
    // More than there are cores: tests with processes and databases wait more than they work.
    maxWorkers: "200%",
    projects: [
      // What starts nothing: `npm run test:unit`. One project, because each project loads and compiles everything anew.
      {
        test: {
          ...project("unit", ["packages/{core,engine,memory,testing}/test/**/*.test.ts"], {
            testTimeout: 5_000,
          }).test,
          isolate: false,
          exclude: [ENGINE_ON_POSTGRES, BROKEN_ADAPTERS, FAKE_STRIPE],
        },
      },
      // The same with all inputs of its properties. Of `npm run test:suites`.
      {
        test: {
          ...project("unit-at-length", ["packages/{core,engine}/test/**/*.test.ts"], {
            testTimeout: 30_000,
            isolate: false,
          }).test,
          exclude: [ENGINE_ON_POSTGRES],
          env: { PROPERTY_SHARE: "1" },
        },
      },
      {
        test: {
          ...project("engine-postgres", [ENGINE_ON_POSTGRES], { testTimeout: 30_000 }).test,
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      { test: { ...unit("http").test, exclude: [HTTP_CONTRACT, GENERATED_CLIENTS, HTTP_COUNTED] } },
      project("http-counted", [HTTP_COUNTED], { testTimeout: 5_000 }),
      { test: { ...unit("billwright").test, exclude: [BILLWRIGHT_INTEGRATION, E2E, PGBOUNCER] } },
      {
        test: {
          ...project("repository", ["scripts/**/*.test.ts"], { testTimeout: 30_000 }).test,
          globalSetup: [COMMAND],
        },
      },
      {
        test: {
          ...integration("postgres", "packages/postgres").test,
          isolate: false,
          exclude: [PGBOUNCER, ...POSTGRES_AT_LENGTH],
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      {
        test: {
          ...project("postgres-at-length", POSTGRES_AT_LENGTH, { testTimeout: 30_000 }).test,
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      {
        test: {
          ...project("pgbouncer", [PGBOUNCER], { testTimeout: 30_000 }).test,
          globalSetup: ["packages/postgres/test/pgbouncer/globalSetup.ts", COMMAND],
        },
      },
      { test: { ...integration("node", "packages/node").test, isolate: false } },
      {
        test: {
          ...project("stripe", ["packages/stripe/test/**/*.test.ts", FAKE_STRIPE], { testTimeout: 30_000 })
            .test,
          exclude: [STRIPE_JUDGES],
        },
      },
      project("stripe-judges", [STRIPE_JUDGES], { testTimeout: 120_000 }),
      {
        test: {
          ...project("billwright-integration", [BILLWRIGHT_INTEGRATION], { testTimeout: 60_000 }).test,
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      project("broken-adapters", [BROKEN_ADAPTERS], { testTimeout: 30_000 }),
      project("http-contract", [HTTP_CONTRACT], { testTimeout: 60_000 }),
      // With nothing in the caches, a generator alone is minutes of downloading and compiling.
      project("generated-clients", [GENERATED_CLIENTS], { testTimeout: 480_000 }),
      // One of its tests builds the app.
      {
        test: {
          ...project("dashboard", ["packages/dashboard/test/**/*.test.ts"], { testTimeout: 30_000 }).test,
          exclude: [E2E],
        },
      },
      {
        test: {
          ...project("e2e", [E2E], { testTimeout: 30_000 }).test,
          globalSetup: ["packages/dashboard/test/e2e/globalSetup.ts"],
        },
      },
      {
        test: {
          ...integration("cli", "packages/cli").test,
          exclude: [...FAULTS, PGBOUNCER],
          globalSetup: [COMMAND],
        },
      },
      {
        test: {
          ...project("faults", FAULTS, { testTimeout: 30_000 }).test,
          globalSetup: [COMMAND],
        },
      },
      { test: { ...integration("examples", "examples/*").test, exclude: [E2E] } },
      {
        test: {
          ...project("simulation", ["simulation/test/**/*.test.ts"], { testTimeout: 60_000, isolate: false })
            .test,
          exclude: [PLANTED_BUGS],
        },
      },
      project("planted-bugs", [PLANTED_BUGS], { testTimeout: 240_000, isolate: false }),
    ],
  },
})
