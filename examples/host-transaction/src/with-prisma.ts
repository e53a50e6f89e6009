import { Host, HostBridge } from "@billwright/postgres"
import { PrismaPg } from "@prisma/adapter-pg"
import { usageOf } from "./Billing.ts"
import { PrismaClient } from "./prisma/generated/client.ts"
import type { OpenShop } from "./Shop.ts"

export const openWithPrisma: OpenShop = (url, billing) => {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
  return {
    placeOrder: (order, check) =>
      prisma.$transaction(async (tx) => {
        await tx.order.create({ data: order })
        await billing.run(usageOf(order).pipe(Host.joining(HostBridge.fromPrisma(tx))))
        await check()
      }),
    close: () => prisma.$disconnect(),
  }
}
