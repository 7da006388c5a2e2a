// Elements, built from code: text from data only ever becomes text.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// Writing the same text again would cost a layout.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function toggleAttribute(element, name, on, value = "true") {
  if (on) element.setAttribute(name, value);
  else element.removeAttribute(name);
}

const ON_PAPER = 3; // dots per pixel

// A canvas as sharp as the screen or the paper, with its context in CSS pixels.
export function sharpContext(canvas, width, height) {
  const printing = document.documentElement.classList.contains("printing");
  const ratio = Math.max(window.devicePixelRatio || 1, printing ? ON_PAPER : 1);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Follow a pointer that went down on an element, until it is let go.
export function follow(element, event, move) {
  const drop = () => {
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", drop);
    element.removeEventListener("pointercancel", drop);
  };
  element.setPointerCapture(event.pointerId);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", drop);
  element.addEventListener("pointercancel", drop);
}
