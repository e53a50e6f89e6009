/**
 * The session of the operator, with its client.
 */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import * as Client from "../api/Client.ts"
import { mount } from "../Mount.ts"
import * as Key from "./Key.ts"
import { SignedOut } from "./SignedOut.tsx"
import { SignIn } from "./SignIn.tsx"

interface Session {
  readonly client: Client.Client
  /** `undefined` if the host authenticates the operator. Then the API's answers say it. */
  readonly mode: Key.Mode | undefined
  /** `undefined` if the host authenticates the operator. */
  readonly signOut: (() => void) | undefined
}

const SessionContext = createContext<Session | undefined>(undefined)

/** The session. It exists on every page except the sign-in page. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error("no session")
  return session
}

const MAX_RETRIES = 2
/** Newer answers than this are not loaded again when another part of the page needs them, in milliseconds. */
const FRESH_MILLIS = 2_000

const isWorthRetrying = (failures: number, error: unknown): boolean =>
  failures < MAX_RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 500)

const newQueryClient = (): QueryClient =>
  new QueryClient({ defaultOptions: { queries: { retry: isWorthRetrying, staleTime: FRESH_MILLIS } } })

/** Each session has its own cache, which ends with it. */
const SignedIn = (props: {
  readonly apiKey: string | undefined
  readonly onSignOut: (notice?: string) => void
  readonly children: ReactNode
}) => {
  const { apiKey, onSignOut } = props
  const [queries] = useState(newQueryClient)
  const session = useMemo<Session>(() => {
    const hasKey = apiKey !== undefined
    return {
      client: Client.make({
        apiUrl: mount.apiUrl,
        key: apiKey,
        onUnauthorized: () =>
          onSignOut(
            hasKey
              ? "The API no longer accepts this key. It may have been revoked."
              : "You are signed out. The data is no longer in this tab.",
          ),
      }),
      mode: hasKey ? Key.modeOf(apiKey) : undefined,
      signOut: hasKey ? () => onSignOut() : undefined,
    }
  }, [apiKey, onSignOut])
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queries}>{props.children}</QueryClientProvider>
    </SessionContext>
  )
}

/** For hosts that authenticate the operator: shows the pages until the host refuses a request. */
const HostGate = ({ children }: { readonly children: ReactNode }) => {
  const [notice, setNotice] = useState<string>()
  const signOut = useCallback((reason?: string) => setNotice(reason ?? ""), [])
  if (notice !== undefined) return <SignedOut notice={notice} />
  return (
    <SignedIn apiKey={undefined} onSignOut={signOut}>
      {children}
    </SignedIn>
  )
}

/** Shows the sign-in page until there is a key, and then the pages. */
const KeyGate = ({ children }: { readonly children: ReactNode }) => {
  const [key, setKey] = useState(Key.stored)
  const [notice, setNotice] = useState<string>()
  const signOut = useCallback((reason?: string) => {
    Key.forget()
    setKey(undefined)
    setNotice(reason)
  }, [])
  const signIn = useCallback((accepted: string) => {
    Key.store(accepted)
    setNotice(undefined)
    setKey(accepted)
  }, [])
  if (key === undefined) return <SignIn notice={notice} onSignIn={signIn} />
  return (
    <SignedIn apiKey={key} onSignOut={signOut}>
      {children}
    </SignedIn>
  )
}

export const SessionGate = mount.signIn === "key" ? KeyGate : HostGate
