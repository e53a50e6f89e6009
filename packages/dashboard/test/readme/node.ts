import { createServer } from "node:http"
import { Dashboard } from "@billwright/dashboard"

const dashboard = Dashboard.nodeHandler({ basePath: "/billing/dashboard", apiUrl: "/billing/v1" })

export const server = createServer((request, response) => {
  dashboard(request, response, () => response.writeHead(404).end())
})
