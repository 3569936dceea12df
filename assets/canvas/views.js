// A part of the widget's module, after rendercanvas's: tells the kernel how many outputs of cells show the widget.

{
  const model = RenderviewAnywidgetModel.prototype
  for (const name of ['addView', 'removeView']) {
    const change = model[name]
    model[name] = function (view) {
      change.call(this, view)
      this.onEvent({ type: 'views', count: this.views.length })
    }
  }
}
