// The bar of an animation: play and pause, time, which one plays, speed, loop. In a notebook it is a part of the
// widget's module, on the page of `raystream view --remote` a script.

{
  const ALL = -1 // number of all animations at once

  // Fills an element with the bar; returns what shows a `motion` message of the view. `send` takes messages to the view,
  // `done` is called when the bar needs the keyboard no more.
  window.BaseRenderView.motionBar = (place, send, done) => {
    const make = (kind, label) => {
      const made = document.createElement(kind)
      made.setAttribute('aria-label', label)
      return place.appendChild(made)
    }
    const play = make('button', 'play')
    const time = make('input', 'time')
    const which = make('select', 'animation')
    const speed = make('select', 'speed')
    const loop = make('button', 'loop')
    loop.textContent = 'Loop'
    Object.assign(time, { type: 'range', min: 0, step: 'any' })
    time.style.flex = '1'
    place.style.display = 'none'

    const list = (select, values) => {
      const options = values.map(([value, text]) => new Option(text, value))
      select.replaceChildren(...options)
    }
    const act = (button, name) => button.addEventListener('click', () => {
      send({ type: 'action', name })
      done()
    })
    const choose = (select, type, field) => select.addEventListener('change', () => {
      send({ type, [field]: Number(select.value) })
      done()
    })

    act(play, 'animation.play')
    act(loop, 'animation.loop')
    choose(which, 'animation', 'number')
    choose(speed, 'speed', 'times')
    time.addEventListener('input', () => send({ type: 'seek', seconds: Number(time.value) }))
    time.addEventListener('change', done)

    let names = ''
    return (told) => {
      place.style.display = told.duration === 0 ? 'none' : 'flex'
      if (names !== JSON.stringify(told.animations)) {
        names = JSON.stringify(told.animations)
        list(which, [...told.animations.map((name, number) => [number, name]), [ALL, 'all']])
        list(speed, told.speeds.map((times) => [times, `${times} x`]))
      }
      which.hidden = told.animations.length < 2
      play.textContent = told.playing ? 'Pause' : 'Play'
      loop.setAttribute('aria-pressed', told.loop)
      loop.style.opacity = told.loop ? '1' : '0.5'
      time.max = told.duration
      const focused = place.getRootNode().activeElement
      for (const [element, value] of [[time, told.seconds], [which, told.animation], [speed, told.speed]]) {
        if (element !== focused) { element.value = value }
      }
    }
  }
}
