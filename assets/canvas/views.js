// A part of the widget's module, after rendercanvas's: the animation's bar below each picture; and tells the kernel how
// many outputs of cells show the widget.

{
  const model = RenderviewAnywidgetModel.prototype
  const { addView, removeView } = model

  model.addView = function (view) {
    const place = document.createElement('div')
    Object.assign(place.style, { gap: '8px', maxWidth: '640px', padding: '4px 0' })
    view.wrapperElement.after(place)
    const show = window.BaseRenderView.motionBar(place, (message) => this.onEvent(message),
      () => view._focusElement?.focus({ preventScroll: true }))
    const hear = (message) => { if (message.type === 'motion') { show(message) } }
    this.anymodel.on('msg:custom', hear)
    view.endMotion = () => {
      this.anymodel.off('msg:custom', hear)
      place.remove()
    }
    addView.call(this, view)
    this.onEvent({ type: 'views', count: this.views.length })
  }

  model.removeView = function (view) {
    view.endMotion()
    removeView.call(this, view)
    this.onEvent({ type: 'views', count: this.views.length })
  }
}
