import { Dashboard } from "@billwright/dashboard"
import express from "express"

export const app = express()
app.use(Dashboard.nodeHandler({ basePath: "/billing/dashboard", apiUrl: "/billing/v1" }))
