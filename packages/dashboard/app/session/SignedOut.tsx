import { useEffect } from "react"
import { Icon } from "../ui/Icon.tsx"

/** The host no longer knows the operator. Loading the page again leads to its login. */
export const SignedOut = ({ notice }: { readonly notice: string }) => {
  useEffect(() => void (document.title = "Signed out · Billwright"), [])
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <p className="brand">
          <Icon name="brand" /> Billwright
        </p>
        <h1>Signed out</h1>
        <p className="notice" role="status">
          {notice}
        </p>
        <button className="button primary wide" onClick={() => location.reload()} type="button">
          Sign in again
        </button>
      </div>
    </main>
  )
}
