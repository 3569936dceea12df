// Luminance.

const vec3 LUMINANCE = vec3(0.2126, 0.7152, 0.0722);  // of linear sRGB, ITU-R BT.709; raystream.scene.light.LUMINANCE
