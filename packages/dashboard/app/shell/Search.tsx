import { type RefObject, type SubmitEvent, useState } from "react"
import { useLocation } from "wouter"
import { Icon } from "../ui/Icon.tsx"
import { toast } from "../ui/Toast.tsx"
import { destination, ID_PREFIXES } from "./Destination.ts"

/** Opens the page of an id, or searches for customers by any other text. */
export const Search = ({ input }: { readonly input: RefObject<HTMLInputElement | null> }) => {
  const [text, setText] = useState("")
  const [, navigate] = useLocation()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const address = destination(text)
    if (address === undefined)
      return toast(`Enter a whole id (${ID_PREFIXES}), or a part of a customer's name or e-mail address.`)
    setText("")
    input.current?.blur()
    navigate(address)
  }
  return (
    <form className="search" onSubmit={submit} role="search">
      <Icon name="search" />
      <input
        aria-label="Search by id, name or e-mail address"
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && input.current?.blur()}
        placeholder="Id, name or e-mail"
        ref={input}
        spellCheck={false}
        type="search"
        value={text}
      />
      <kbd>/</kbd>
    </form>
  )
}
