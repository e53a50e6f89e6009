import { partsOfUrl } from "./UrlParts.ts"

/** A URL on one line, whose path stays visible. */
export const Url = ({ url }: { readonly url: string }) => {
  const { origin, path } = partsOfUrl(url)
  return (
    <span className="url" title={url}>
      <span className="url-origin">{origin}</span>
      <span className="url-path">{path}</span>
    </span>
  )
}
