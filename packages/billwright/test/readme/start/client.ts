import { ApiError, createClient } from "billwright/client"

const billing = createClient({
  url: "https://app.example.com/billing",
  apiKey: process.env["BILLWRIGHT_API_KEY"]!,
})

try {
  for await (const customer of billing.customers.list({ email: "ada@example.com" })) {
    const { totalQuantity } = await billing.usage.summary({ customerId: customer.id })
    console.log(totalQuantity) // 5n
  }
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.error(error.code, error.message, error.requestId)
}
