// Elements, built from code: text from data only ever becomes text; canvases, wide tables, tooltip.

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

// A name that may go on in another line after its separators and before its capitals.
export function nameParts(name) {
  const parts = name.split(/(?<=[_/\\:=|,-])|(?<=[a-z])(?=[A-Z])|(?<=\.)(?=\w{5})/);
  return parts.flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part]));
}

// As `setText`, for a name.
export function setName(element, text) {
  if (element.textContent !== text) element.replaceChildren(...nameParts(text));
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

// A table that may be wider than its place: shadows say where there is more of it.
export function sideways(table, label) {
  const box = make("div", { class: "scroll" }, table);
  const element = make("div", { class: "scrolling" }, box);
  const show = () => {
    const hidden = box.scrollWidth - box.clientWidth;
    element.classList.toggle("more-left", box.scrollLeft > 1);
    element.classList.toggle("more-right", box.scrollLeft < hidden - 1);
    // Arrow keys scroll what has the focus.
    toggleAttribute(box, "tabindex", hidden > 1, "0");
    toggleAttribute(box, "role", hidden > 1, "region");
    toggleAttribute(box, "aria-label", hidden > 1, `${label}, scrolls sideways`);
  };
  box.addEventListener("scroll", show, { passive: true });
  const observer = new ResizeObserver(show);
  observer.observe(box);
  observer.observe(table);
  return element;
}

// One tooltip for the whole page, beside the pointer and inside the window.

const AWAY = 14;

export function showTooltip(x, y, heading, lines) {
  const box = document.getElementById("tooltip");
  box.replaceChildren(make("strong", {}, heading), ...lines.map(line));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + AWAY + width < innerWidth - 8 ? x + AWAY : Math.max(8, x - AWAY - width);
  const top = Math.min(Math.max(8, y + AWAY), Math.max(8, innerHeight - height - 8));
  box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

function line({ text, colour }) {
  const swatch = colour ? [make("i", { class: "swatch", style: `--swatch: ${colour}` })] : [];
  return make("span", { class: "tooltip-line" }, ...swatch, text);
}

export function hideTooltip() {
  document.getElementById("tooltip").hidden = true;
}
