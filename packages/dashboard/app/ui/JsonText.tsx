/**
 * Shows JSON as text, with colours for its parts.
 */
import { useMemo } from "react"
import * as ExactJson from "../api/ExactJson.ts"
import { partsOf } from "./JsonParts.ts"

export const JsonText = ({ label, value }: { readonly value: unknown; readonly label: string }) => {
  const parts = useMemo(() => partsOf(ExactJson.stringify(value, "indented")), [value])
  return (
    <pre aria-label={label} className="code" role="region" tabIndex={0}>
      {parts.map(({ kind, text }, index) =>
        kind === "plain" ? (
          text
        ) : (
          <span className={`json-${kind}`} key={index}>
            {text}
          </span>
        ),
      )}
    </pre>
  )
}
