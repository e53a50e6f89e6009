import { serve } from "./Server.ts"

const { url } = await serve(Number(process.env["PORT"] ?? "3000"))
console.log(`listening on ${url}`)
