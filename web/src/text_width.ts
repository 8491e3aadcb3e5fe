/** In pixels, as the page's font draws it. */
export function textWidth(text: string, size = 12): number {
  const pen = document.createElement("canvas").getContext("2d")!;
  pen.font = `${size}px system-ui, sans-serif`;
  return pen.measureText(text).width;
}
