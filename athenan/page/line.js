// The line to the server: objects of JSON both ways.

export function connect(hear, lost) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/line`);
  const waiting = [];
  socket.addEventListener("open", () => waiting.splice(0).forEach((text) => socket.send(text)));
  socket.addEventListener("message", (event) => hear(JSON.parse(event.data)));
  socket.addEventListener("close", (event) => lost(event.reason));
  return (message) => {
    const text = JSON.stringify(message);
    if (socket.readyState === WebSocket.CONNECTING) waiting.push(text);
    else if (socket.readyState === WebSocket.OPEN) socket.send(text);
  };
}

// An element with attributes, listeners (on…) and children.
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A picture's parts as the server draws them.
export function parsed(text) {
  const source = `<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`;
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  return [...root.childNodes].map((node) => document.importNode(node, true));
}

export const byId = (id) => document.getElementById(id);
export const short = (n) => (n < 1000 ? `${n}` : n < 1e6 ? `${+(n / 1000).toPrecision(2)}k` : `${+(n / 1e6).toPrecision(2)}M`);

// A value with as many digits as its scale, from −bound to bound, makes sense of.
export function signed(value, bound = 1) {
  const digits = bound > 20 ? 0 : bound > 2 ? 1 : 2;
  const text = Math.abs(value).toFixed(digits);
  return (+text === 0 ? "" : value < 0 ? "−" : "+") + text;
}
