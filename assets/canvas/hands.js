// What rendercanvas's view of a page lacks: keys that the browser would take for itself, keys that repeat, and two
// fingers. In a notebook it is a part of the widget's module, on the page of `raystream view --remote` a script.

{
  const OURS = new Set(['Tab', ' ', 'Enter', 'Home', 'End', 'PageUp', 'PageDown', 'ArrowLeft', 'ArrowRight', 'ArrowUp',
    'ArrowDown', "'", '/', '?'])
  const PAN = 3 // the middle button
  const View = window.BaseRenderView
  const registerEvents = View.prototype._registerEvents

  const send = (view, type, values) => view.onEvent({ type, timestamp: performance.now() / 1000, ...values })

  // The browser's own use of these keys (the next field, scrolling, a search, saving the page) would take the keyboard
  // away from the picture. Shift and Tab leaves it.
  function keys (view, signal) {
    view._focusElement.addEventListener('keydown', (event) => {
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey
      if (plain ? OURS.has(event.key) && !(event.key === 'Tab' && event.shiftKey) : event.key === 's') {
        event.preventDefault()
      }
      if (event.repeat) {
        const modifiers = ['Alt', 'Control', 'Meta', 'Shift'].filter((name) => event.getModifierState(name))
        send(view, 'key_down', { key: event.key, modifiers, repeat: true })
      }
    }, { signal })
  }

  // One finger is the left button, as rendercanvas has it. A second one ends its drag; then the fingers' distance is a
  // pinch, and their middle pans. What is left of them does nothing.
  function fingers (view, signal) {
    const down = new Map() // pointer -> [x, y]
    let two = false
    let before = null // [x, y, distance]
    let waits = false

    const drag = (type, x, y, button) =>
      send(view, type, { x, y, button, buttons: [button], modifiers: [], ntouches: 0, touches: {} })

    function spread () {
      const [[ax, ay], [bx, by]] = down.values()
      return [(ax + bx) / 2, (ay + by) / 2, Math.max(Math.hypot(ax - bx, ay - by), 1)]
    }

    function tell () {
      waits = false
      if (before === null || down.size < 2) { return }
      const now = spread()
      drag('pointer_move', now[0], now[1], PAN)
      send(view, 'pinch', { x: now[0], y: now[1], ratio: now[2] / before[2] })
      before = now
    }

    function listen (type, handle) {
      view.viewElement.addEventListener(type, (event) => {
        if (event.pointerType === 'touch' && handle(event)) { event.stopImmediatePropagation() }
      }, { signal, capture: true })
    }

    listen('pointerdown', (event) => {
      event.preventDefault()
      down.set(event.pointerId, [event.offsetX, event.offsetY])
      if (down.size === 1) { return false }
      view.viewElement.setPointerCapture(event.pointerId)
      if (down.size === 2) {
        const [[x, y]] = down.values()
        drag('pointer_up', x, y, 1)
        two = true
        before = spread()
        drag('pointer_down', before[0], before[1], PAN)
      }
      return true
    })
    listen('pointermove', (event) => {
      if (!two || !down.has(event.pointerId)) { return two }
      down.set(event.pointerId, [event.offsetX, event.offsetY])
      if (!waits && down.size === 2) {
        waits = true
        window.setTimeout(tell, 20)
      }
      return true
    })
    for (const type of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      listen(type, (event) => {
        if (down.delete(event.pointerId) && before !== null) {
          drag('pointer_up', before[0], before[1], PAN)
          before = null
        }
        two = two && down.size > 0
        return false
      })
    }
  }

  View.prototype._registerEvents = function () {
    registerEvents.call(this)
    keys(this, this._abortController.signal)
    fingers(this, this._abortController.signal)
  }
}
