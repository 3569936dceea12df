// What is beside the canvas: a line of what goes on, options, and actions by their keys, which go through the canvas's
// own WebSocket.

const line = document.getElementById('line')
const options = document.getElementById('options')
const keys = document.getElementById('keys')
const fields = options.querySelectorAll('select, input')
const touched = window.matchMedia('(pointer: coarse)').matches // focus would open a keyboard on the screen

const send = (message) => { window.websocket?.send(JSON.stringify(message)) }

// The canvas's title says what goes on.
const name = document.title
new MutationObserver(() => {
  const title = document.querySelector('.renderview-title')
  if (title !== null && title.textContent !== line.textContent) {
    line.textContent = title.textContent
    document.title = title.textContent || name
  }
  if (document.activeElement === document.body) { focus() } // the canvas is there
}).observe(document.getElementById('canvas'), { subtree: true, childList: true, characterData: true })

// ----- the keyboard: the picture has it, unless a text is typed ---------------

const hidden = () => document.querySelector('#rendercanvas-focus-element-container input')

function focus () {
  if (!touched) { hidden()?.focus({ preventScroll: true }) }
}

// Whether a key is for the element that has the focus, and not for the picture.
function kept (element, key) {
  if (element.tagName === 'INPUT') { return true }
  const listed = [' ', 'Enter', 'Escape', 'Tab', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown']
  if (element.tagName === 'SELECT') { return listed.includes(key) }
  return ['SUMMARY', 'BUTTON'].includes(element.tagName) && [' ', 'Enter', 'Tab'].includes(key)
}

for (const type of ['keydown', 'keyup']) {
  document.addEventListener(type, (event) => {
    const canvas = hidden()
    if (canvas === null || event.target === canvas) { return }
    if (type === 'keydown' && event.key === 'Escape') { focus() }
    if (kept(event.target, event.key)) { return }
    event.preventDefault()
    focus()
    canvas.dispatchEvent(new KeyboardEvent(type, event))
  })
}

// A panel that the mouse has opened or closed leaves the keyboard with the picture.
for (const summary of document.querySelectorAll('summary')) {
  summary.addEventListener('click', (event) => { if (event.detail > 0) { window.setTimeout(focus, 0) } })
}
focus()

// ----- options ---------------

async function show () {
  const values = await (await fetch('options.json')).json()
  for (const field of fields) {
    if (field !== document.activeElement) { field.value = values[field.name] ?? '' }
  }
}

for (const field of fields) {
  field.addEventListener('change', () => {
    send({ type: 'option', name: field.name, value: field.value })
    focus()
    window.setTimeout(show, 300)
  })
}
options.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault()
  focus()
})
options.addEventListener('toggle', () => { if (options.open) { show() } })
window.setInterval(() => { if (options.open) { show() } }, 2000) // keys change them, too

// ----- actions, for who has no keyboard ---------------

for (const button of keys.querySelectorAll('button')) {
  button.addEventListener('click', () => {
    send({ type: 'action', name: button.name })
    focus()
  })
}

// ----- the animation ---------------

const move = window.BaseRenderView.motionBar(document.getElementById('motion'), send, focus)

// ----- messages of the view: the animation's time, and pictures that are saved, which are downloads ---------------

let heard = null // the connection whose messages are heard

function hear () {
  const socket = window.websocket ?? null
  if (socket === heard || socket === null) { return }
  heard = socket
  socket.addEventListener('message', (event) => {
    const told = typeof event.data === 'string' ? JSON.parse(event.data) : {}
    if (told.type === 'motion') { move(told) }
    if (told.type !== 'download') { return }
    const link = document.createElement('a')
    link.href = told.href
    link.download = told.name
    link.click()
  })
}

new MutationObserver(hear).observe(document.getElementById('status'), { childList: true }) // it tells of each connection
hear()

// The button of rendercanvas's status, whose own handler the page's policy refuses.
document.getElementById('status').addEventListener('click', (event) => {
  if (event.target.tagName === 'BUTTON') { window.openWebsocketConnection() }
})
