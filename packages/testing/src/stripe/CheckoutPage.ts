/**
 * The pages of checkout sessions, for the browser of a customer: the form of a card, and the bank that asks.
 */
import type { AccountState } from "./AccountState.ts"
import { answerBankOnPage, enterCardOnPage, getSession } from "./CheckoutSessions.ts"
import { StripeProblem } from "./StripeProblem.ts"

/** Where the pages are. */
export const PAGES = "/c/pay/"

/** What the browser gets: a page, or the address at which it goes on. */
export type PageAnswer =
  | { readonly status: 200 | 404; readonly html: string }
  | { readonly status: 303; readonly location: string }

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)

const STYLE = `
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; background: #f6f8fa; color: #1a1f36 }
  main { max-width: 24rem; margin: 0 auto; padding: 2rem 1rem }
  h1 { font-size: 1.25rem }
  label { display: block; font-weight: 600 }
  input { font: inherit; box-sizing: border-box; width: 100%; padding: .6rem; border: 1px solid #6b7280; border-radius: 6px }
  button { font: inherit; width: 100%; margin-top: 1rem; padding: .7rem; border: 0; border-radius: 6px; background: #4338ca; color: #fff }
  button.other { background: #fff; color: #1a1f36; border: 1px solid #6b7280 }
  .problem { color: #b91c1c }
  .note { color: #4b5563 }`

const page = (title: string, content: string, status: 200 | 404 = 200): PageAnswer => ({
  status,
  html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`,
})

const form = (back: string | null, problem = ""): PageAnswer =>
  page(
    "Save a card",
    `${problem === "" ? "" : `<p class="problem" role="alert">${escaped(problem)}</p>`}
<form method="post"><label for="card">Card number</label>
<input id="card" name="card" inputmode="numeric" autocomplete="cc-number" required>
<p class="note">A fake of Stripe: use one of its test cards.</p><button>Save card</button></form>
${back === null ? "" : `<p><a href="${escaped(back)}">Back</a></p>`}`,
  )

const bank = page(
  "Your bank asks",
  `<p>Do you want this card to be saved?</p><form method="post">
<button name="bank" value="yes">Confirm</button><button class="other" name="bank" value="no">Refuse</button></form>`,
)

const gone = page("This page is no longer there", "", 404)

/** Answers the browser of a customer. `body` is a form, if one was sent. */
export const answerPage = (
  state: AccountState,
  id: string,
  body: URLSearchParams | undefined,
): PageAnswer => {
  const session = getSession(state, undefined, id)
  if (session.status !== "open") return gone
  const { cancel_url: back, setup_intent: setup, success_url: location } = session
  const card = body?.get("card")?.replaceAll(" ", "")
  const answer = body?.get("bank")
  const isAsked = () => state.get("setup_intent", setup).status === "requires_action"
  if (card === undefined && answer === undefined) return isAsked() ? bank : form(back)
  try {
    if (card !== undefined) enterCardOnPage(state, id, card)
    else if (isAsked()) answerBankOnPage(state, id, answer === "yes")
  } catch (error) {
    if (!(error instanceof StripeProblem)) throw error
    return form(back, error.body.message)
  }
  if (getSession(state, undefined, id).status === "complete") return { status: 303, location }
  return isAsked() ? bank : form(back, state.get("setup_intent", setup).last_setup_error?.message)
}
