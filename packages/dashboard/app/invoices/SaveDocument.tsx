import { useState } from "react"
import type { DocumentPath } from "../api/Client.ts"
import { useSession } from "../session/Session.tsx"
import { toast } from "../ui/Toast.tsx"

/** How long the browser may take to begin with a file, in milliseconds. */
const KEPT_MILLIS = 60_000

/** Gives the browser a file to save. */
const save = (file: Blob, name: string): void => {
  const url = URL.createObjectURL(file)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MILLIS)
}

/** Saves a document of an invoice or a credit note, as its customer gets it. */
export const SaveDocument = ({
  id,
  isSmall = false,
  name,
  path,
}: {
  readonly path: DocumentPath
  readonly id: string
  /** The name of the file, without its ending. */
  readonly name: string
  readonly isSmall?: boolean
}) => {
  const { client } = useSession()
  const [isLoading, setIsLoading] = useState(false)
  const ending = path.endsWith("/pdf") ? "pdf" : "html"
  const load = async () => {
    setIsLoading(true)
    try {
      save(await client.document(path, id), `${name}.${ending}`)
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error))
    } finally {
      setIsLoading(false)
    }
  }
  return (
    <button
      className={`button${isSmall ? " small" : ""}`}
      disabled={isLoading}
      onClick={() => void load()}
      type="button"
    >
      Save {ending.toUpperCase()}
      {isSmall && <span className="visually-hidden"> of {name}</span>}
    </button>
  )
}
