import { defineConfig } from "vitest/config"

/** Something takes this many milliseconds because it hangs, and not because the machine does other things as well. */
const HANGS = 60_000

const project = (
  name: string,
  include: ReadonlyArray<string>,
  options: { readonly testTimeout: number; readonly isolate?: boolean },
) => ({ test: { name, include: [...include], hookTimeout: HANGS, ...options } })

// Unit projects never wait for anything real. Their files change nothing that they share, and importing it anew for each
// takes longer than the tests.
const unit = (name: string) =>
  project(name, [`packages/${name}/test/**/*.test.ts`], { testTimeout: HANGS, isolate: false })

// These start databases, servers and processes.
const integration = (name: string, folder: string) =>
  project(name, [`${folder}/test/**/*.test.ts`], { testTimeout: HANGS })

/** Starts the command quickly, in tests that start it often. */
const COMMAND = "packages/cli/test/globalSetup.ts"

/**
 * What other people's tools make of the API: they run as processes and take their time. And how often blocks of code run,
 * which needs code that no other test has loaded before. Of `npm run test:suites`.
 */
const HTTP_CONTRACT = [
  "packages/http/test/contract/**/*.test.ts",
  "packages/http/test/server/HostileJson.test.ts",
]

/** Clients that other people's tools generate from the API's document, in four languages: by `npm run test:clients`. */
const GENERATED_CLIENTS = "packages/http/test/clients/**/*.test.ts"

/** The contract suite as its README runs it, and whether it finds adapters that are broken on purpose. Of the same script. */
const BROKEN_ADAPTERS = "packages/testing/test/{Faults,Readme}.test.ts"

/** The fake of Stripe's API, which listens on a port of this machine. */
const FAKE_STRIPE = "packages/testing/test/stripe/**/*.test.ts"

/** What other people's fakes of Stripe say of ours and of the adapter: they run as processes. Of `npm run test:stripe`. */
const STRIPE_JUDGES = "packages/stripe/test/judges/**/*.test.ts"

/** What an official validator says of e-invoices: it runs in Java. Of `npm run test:einvoice`. */
const E_INVOICES = "packages/pdf/test/einvoices/**/*.test.ts"

/**
 * Simulations that need many seeds: to meet every kind of fault and of command, and to find bugs that are planted in them.
 * Of the same script.
 */
const SIMULATIONS_AT_LENGTH = [
  "simulation/test/{Billing,Prepaid,Whole}Simulation.test.ts",
  "simulation/test/{,Billing,Credits,Payments,Prepaid,Whole}Mutations.test.ts",
]

/**
 * The query plans on tables with many rows, the storage contract on other kinds of connections, random commands, databases
 * that crash, hang and start again, workers that die, runners that meet, years of billing, roles, row-level security, and
 * schemas of other releases. Of the same script.
 */
const POSTGRES_AT_LENGTH = [
  "packages/postgres/test/{ConnectionsContract,CreditPlans,EventPlans,KeptPlans,LowWaterMark,Plans,StorageModel}.test.ts",
  "packages/postgres/test/{Commits,CrashedCommit,CreditCallFunctions,CreditsCrash,EmbeddedPostgres,Failures,Unanswered}.test.ts",
  "packages/postgres/test/{BillingPlans,BillRuns,Books,InvoiceGroups,Roles,RowSecurity,RowSecurityContract,SchemaStates,StandingOffers,TestClocks,ThreeYears,Tls,Workers}.test.ts",
]

/**
 * Commands on a database of their own, keys of encryption that change, and servers and workers that start, pay, share the
 * work, keep their memory small and stop. Of the same script.
 */
const CLI_AT_LENGTH = "packages/cli/test/{Demo,Embedded,Encryption,Memory,PaymentProviders,Running}.test.ts"

/** The engine's arithmetic compared with that of a real Postgres. */
const ENGINE_ON_POSTGRES = "packages/engine/test/postgres/**/*.test.ts"

/** `billwright` on a real Postgres. */
const BILLWRIGHT_INTEGRATION = "packages/billwright/test/integration/**/*.test.ts"

/** `billwright` in frameworks that are slow to load, and as its compiler emits it. Of the same script. */
const BILLWRIGHT_FRAMEWORKS = "packages/billwright/test/integration/{Declarations,Mounts,Nest}.test.ts"

/** The examples of documents, each of which is a process. Of the same script. */
const DOCUMENTS = "scripts/{docs-examples,readme,webhooks-examples}.test.ts"

/** The dashboard, and what else runs in a real browser: not of `npm test`, but of `npm run test:e2e`. */
const E2E = "{examples/*,packages/billwright,packages/dashboard}/test/e2e/**/*.test.ts"

/** Processes that are killed, stopped and starved on purpose: they take minutes. Run by `npm run faults`. */
const FAULTS = ["packages/cli/test/faults/**/*.test.ts"]

/** What needs a PgBouncer, which no package of npm brings: run by `npm run test:pgbouncer`. */
const PGBOUNCER = "packages/{billwright,cli,postgres}/test/pgbouncer/**/*.test.ts"

export default defineConfig({
  test: {
    // As many as there are processors: more of them take no less time together, because they work more than they wait.
    maxWorkers: "100%",
    projects: [
      // What starts nothing: `npm run test:unit`. One project, because each project loads and compiles everything anew.
      {
        test: {
          ...project("unit", ["packages/{core,engine,memory,pdf,testing}/test/**/*.test.ts"], {
            testTimeout: HANGS,
          }).test,
          isolate: false,
          exclude: [ENGINE_ON_POSTGRES, BROKEN_ADAPTERS, FAKE_STRIPE, E_INVOICES],
        },
      },
      // The same with all inputs of its properties. Of `npm run test:suites`.
      {
        test: {
          ...project("unit-at-length", ["packages/{core,engine,memory}/test/**/*.test.ts"], {
            testTimeout: 120_000,
            isolate: false,
          }).test,
          exclude: [ENGINE_ON_POSTGRES],
          env: { PROPERTY_SHARE: "1" },
        },
      },
      {
        test: {
          ...project("engine-postgres", [ENGINE_ON_POSTGRES], { testTimeout: HANGS }).test,
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      { test: { ...unit("http").test, exclude: [...HTTP_CONTRACT, GENERATED_CLIENTS] } },
      { test: { ...unit("billwright").test, exclude: [BILLWRIGHT_INTEGRATION, E2E, PGBOUNCER] } },
      {
        test: {
          ...project("repository", ["scripts/**/*.test.ts"], { testTimeout: HANGS, isolate: false }).test,
          exclude: [DOCUMENTS],
        },
      },
      {
        test: {
          ...project("documents", [DOCUMENTS], { testTimeout: HANGS }).test,
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
          ...project("postgres-at-length", POSTGRES_AT_LENGTH, { testTimeout: HANGS }).test,
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      {
        test: {
          ...project("pgbouncer", [PGBOUNCER], { testTimeout: HANGS }).test,
          globalSetup: ["packages/postgres/test/pgbouncer/globalSetup.ts", COMMAND],
        },
      },
      { test: { ...integration("node", "packages/node").test, isolate: false } },
      {
        test: {
          ...project("stripe", ["packages/stripe/test/**/*.test.ts", FAKE_STRIPE], { testTimeout: HANGS })
            .test,
          exclude: [STRIPE_JUDGES],
        },
      },
      // Installing the judges alone takes minutes on a busy machine.
      project("stripe-judges", [STRIPE_JUDGES], { testTimeout: 480_000 }),
      // Without a copy of the validator, it is downloaded first.
      project("e-invoices", [E_INVOICES], { testTimeout: 480_000 }),
      {
        test: {
          ...project("billwright-integration", [BILLWRIGHT_INTEGRATION], {
            testTimeout: HANGS,
            isolate: false,
          }).test,
          exclude: [BILLWRIGHT_FRAMEWORKS],
          globalSetup: ["packages/postgres/test/globalSetup.ts"],
        },
      },
      project("frameworks", [BILLWRIGHT_FRAMEWORKS], { testTimeout: HANGS }),
      project("broken-adapters", [BROKEN_ADAPTERS], { testTimeout: HANGS }),
      project("http-contract", HTTP_CONTRACT, { testTimeout: HANGS }),
      // With nothing in the caches, a generator alone is minutes of downloading and compiling.
      project("generated-clients", [GENERATED_CLIENTS], { testTimeout: 480_000 }),
      // One of its tests builds the app.
      {
        test: {
          ...project("dashboard", ["packages/dashboard/test/**/*.test.ts"], {
            testTimeout: HANGS,
            isolate: false,
          }).test,
          exclude: [E2E],
        },
      },
      {
        test: {
          ...project("e2e", [E2E], { testTimeout: HANGS }).test,
          globalSetup: ["packages/dashboard/test/e2e/globalSetup.ts"],
        },
      },
      {
        test: {
          ...integration("cli", "packages/cli").test,
          isolate: false,
          exclude: [...FAULTS, PGBOUNCER, CLI_AT_LENGTH],
          globalSetup: [COMMAND],
        },
      },
      {
        test: {
          ...project("cli-at-length", [CLI_AT_LENGTH], { testTimeout: 120_000 }).test,
          globalSetup: [COMMAND],
        },
      },
      {
        test: {
          ...project("faults", FAULTS, { testTimeout: HANGS }).test,
          globalSetup: [COMMAND],
        },
      },
      { test: { ...integration("examples", "examples/*").test, exclude: [E2E] } },
      {
        test: {
          ...project("simulation", ["simulation/test/**/*.test.ts"], { testTimeout: 240_000, isolate: false })
            .test,
          exclude: SIMULATIONS_AT_LENGTH,
        },
      },
      // Each file by itself: one of them replaces the rules of the engine, which another one has loaded already.
      project("simulation-at-length", SIMULATIONS_AT_LENGTH, { testTimeout: 240_000 }),
    ],
  },
})
