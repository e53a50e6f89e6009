import type { OpenShop } from "./Shop.ts"
import { openWithDrizzle } from "./with-drizzle.ts"
import { openWithKysely } from "./with-kysely.ts"
import { openWithPg } from "./with-pg.ts"
import { openWithPostgresJs } from "./with-postgres-js.ts"
import { openWithPrisma } from "./with-prisma.ts"
import { openWithSql } from "./with-sql.ts"

/** All shops, by the printed name, which is also the product that the shop sells. */
export const SHOPS: Readonly<Record<string, OpenShop>> = {
  pg: openWithPg,
  "postgres.js": openWithPostgresJs,
  Drizzle: openWithDrizzle,
  Kysely: openWithKysely,
  Prisma: openWithPrisma,
  SQL: openWithSql,
}
