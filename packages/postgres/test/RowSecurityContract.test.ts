/**
 * The contracts on a schema with row-level security. `npm run test:row-security` runs them on each version of Postgres.
 */
import { suites } from "./SecuredContracts.ts"

suites({ name: "PostgreSQL with row-level security" })
