// Elements, made without HTML: text given here is only ever text.

type Child = Node | string | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: never) => void);

/** An element with its attributes, its listeners (`onclick`, …) and its children. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, ...children);
  return element;
}

/** Put children at the end of an element. */
export function append(element: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Put children in the place of all that is in an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, ...children);
}

/** A button that reads as text. */
export function quiet(label: string, onclick: (event: Event) => void, more: Record<string, Attribute> = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "quiet", onclick, ...more }, label);
}

/** A button. */
export function button(label: string, onclick: (event: Event) => void, more: Record<string, Attribute> = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "button", onclick, ...more }, label);
}

/** Give an element the focus, whether or not one can tab to it. */
export function focus(element: HTMLElement | null | undefined): void {
  if (!element) return;
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: false });
}

let unique = 0;

/** An id that no other element has. */
export function fresh(name: string): string {
  unique += 1;
  return `${name}-${unique}`;
}
