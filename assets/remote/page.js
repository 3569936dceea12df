// What is beside the canvas: a line of what goes on, and options, which go through the canvas's own WebSocket.

const line = document.getElementById('line')
const options = document.getElementById('options')
const fields = options.querySelectorAll('select, input')

// The canvas's title says what goes on.
const name = document.title
new MutationObserver(() => {
  const title = document.querySelector('.renderview-title')
  if (title !== null && title.textContent !== line.textContent) {
    line.textContent = title.textContent
    document.title = title.textContent || name
  }
}).observe(document.getElementById('canvas'), { subtree: true, childList: true, characterData: true })

async function show () {
  const values = await (await fetch('options.json')).json()
  for (const field of fields) {
    if (field !== document.activeElement) { field.value = values[field.name] ?? '' }
  }
}

for (const field of fields) {
  field.addEventListener('change', () => {
    window.websocket.send(JSON.stringify({ type: 'option', name: field.name, value: field.value }))
    field.blur()
    window.setTimeout(show, 300)
  })
}
options.querySelector('form').addEventListener('submit', (event) => event.preventDefault())
options.addEventListener('toggle', () => { if (options.open) { show() } })
window.setInterval(() => { if (options.open) { show() } }, 2000) // keys change them, too

// The button of rendercanvas's status, whose own handler the page's policy refuses.
document.getElementById('status').addEventListener('click', (event) => {
  if (event.target.tagName === 'BUTTON') { window.openWebsocketConnection() }
})
