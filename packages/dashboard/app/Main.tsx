/**
 * Starts the dashboard.
 */
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import "./styles/Theme.css"
import "./styles/Controls.css"
import "./styles/Layout.css"
import "./styles/Content.css"
import "./styles/Billing.css"
import { App } from "./App.tsx"
import * as Theme from "./shell/Theme.ts"
import { FaultBoundary } from "./ui/FaultBoundary.tsx"

Theme.restore()

const root = document.querySelector("#app")
if (root === null) throw new Error("the page has no #app")

createRoot(root).render(
  <StrictMode>
    <FaultBoundary>
      <App />
    </FaultBoundary>
  </StrictMode>,
)
