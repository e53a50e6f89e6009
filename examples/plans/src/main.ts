/**
 * Pushes the plans into a storage in memory, and prints what a team of three pays for a month.
 */
import { createBilling } from "billwright"
import { memory } from "billwright/memory"
import * as plans from "./plans.ts"

const billing = await createBilling({ store: memory(), log: false })
for (const { key, status, version } of await billing.plans.push(Object.values(plans))) {
  console.log(`${key}: ${status}, version ${version}`)
}

const { lines, total } = await billing.plans.preview({
  plan: plans.assistantTeam,
  currency: "EUR",
  quantities: { seats: 3, tokens_small: 12_500_000, tokens_large: 1_234_567, images: 250 },
})
for (const { exact, name } of lines) console.log(`${name}: ${exact}`)
console.log(`total: ${Number(total) / 100} EUR`)
await billing.close()
