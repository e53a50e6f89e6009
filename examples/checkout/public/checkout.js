/** The pages on which a customer pays. The calls of `stripe` are those of Stripe.js. */
const stripe = window.Stripe(document.querySelector("#checkout").dataset.key)

const show = (element, problem) => {
  element.textContent = problem
  element.hidden = problem === ""
}

const post = async (path) => {
  const response = await fetch(path, { method: "POST" })
  if (!response.ok) throw new Error(`the shop answered ${response.status}`)
  return response.json()
}

const FAILED = "That did not work. Nothing was charged. Please try again."

/** Saves the card at Stripe, and sends the form with the id of the saved card. */
const form = document.querySelector("#card-form")
if (form !== null) {
  const card = stripe.elements().create("card")
  card.mount("#card")
  const problem = document.querySelector("#card-problem")
  const button = form.querySelector("button")
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    button.disabled = true
    show(problem, "")
    try {
      const { clientSecret, method } = await post(form.dataset.setup)
      const { error } = await stripe.confirmCardSetup(clientSecret, { payment_method: { card } })
      if (error === undefined) {
        form.elements.method.value = method
        form.submit()
        return
      }
      show(problem, error.message)
    } catch {
      show(problem, FAILED)
    }
    button.disabled = false
  })
}

/** Looks every second whether the order is as the page says, and loads the page anew if it is not. */
const order = document.querySelector("#order")
const follow = async () => {
  const response = await fetch(`${order.dataset.order}/state`).catch(() => undefined)
  const { state } = response?.ok ? await response.json() : { state: order.dataset.state }
  if (state !== order.dataset.state) location.reload()
  else setTimeout(follow, 1_000)
}
if (order !== null && "waits" in order.dataset) setTimeout(follow, 1_000)

/** The bank asks the customer. */
const confirm = document.querySelector("#confirm")
confirm?.addEventListener("click", async () => {
  const problem = document.querySelector("#confirm-problem")
  confirm.disabled = true
  show(problem, "")
  try {
    const { clientSecret } = await post(`${order.dataset.order}/confirmation`)
    // Without a secret, the bank asks nothing more.
    const { error } = clientSecret === null ? {} : await stripe.confirmCardPayment(clientSecret)
    if (error !== undefined) show(problem, error.message)
    // Stripe tells the shop what came of it.
    follow()
  } catch {
    show(problem, FAILED)
    confirm.disabled = false
  }
})
