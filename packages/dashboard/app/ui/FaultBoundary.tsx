import { Component, type ReactNode } from "react"
import { ErrorNotice } from "./ErrorNotice.tsx"

/** Shows an error instead of an empty page when the dashboard has a bug. */
export class FaultBoundary extends Component<{ readonly children: ReactNode }, { readonly fault: unknown }> {
  override state = { fault: undefined }

  static getDerivedStateFromError(fault: unknown) {
    return { fault }
  }

  override render(): ReactNode {
    if (this.state.fault === undefined) return this.props.children
    return (
      <main className="page">
        <h1>The dashboard has a bug</h1>
        <ErrorNotice error={this.state.fault} onRetry={() => window.location.reload()} />
      </main>
    )
  }
}
