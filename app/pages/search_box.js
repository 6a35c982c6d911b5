// The search box: a combobox after the pattern of WAI-ARIA whose list is filled while the reader
// types and chosen from by hand.
//
// The box owns its text. Python says which query the page answers, with a revision that changes
// only where the query came from elsewhere (a link, Back); only then is the text replaced. What
// begins with a text comes by search_begins.js, and is shown only for the very text in the box.
//
// Streamlit calls the function below at every change of the data or the theme, and may still make
// the call of a superseded rendering. So each call may be repeated without harm.

const PAUSE_MS = 120;
const boxes = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".cp-box");
  if (!boxes.has(root)) boxes.set(root, makeBox(root));
  boxes.get(root).hear(data, setTriggerValue);
}

function makeBox(root) {
  const input = root.querySelector("input");
  const list = root.querySelector("ul");
  const status = root.querySelector("[role=status]");
  let revision; // of the query last given
  let query = ""; // the query last given or asked
  let awaited = null; // the text whose options are to be shown
  let active = -1;
  let timer;
  let send;

  const options = () => [...list.children];
  const isOpen = () => !list.hidden;
  const post = () => document.querySelector(".cp-begins");
  const found = () => {
    const answer = post()?.answer;
    return answer?.typed === input.value ? answer.options : null;
  };

  function hear(data, setTriggerValue) {
    send = setTriggerValue;
    if (data.revision === revision) return;
    if (revision === undefined || data.query !== query) {
      leaveOff();
      query = input.value = data.query;
    }
    revision = data.revision;
  }

  function open() {
    const all = found();
    leaveOff();
    list.replaceChildren(...all.map(makeOption));
    status.textContent = all.length === 1 ? "1 suggestion" : `${all.length} suggestions`;
    list.hidden = all.length === 0;
    input.setAttribute("aria-expanded", String(isOpen()));
    list.scrollTop = 0;
  }

  // Nothing is shown, and nothing that is still to come will be.
  function leaveOff() {
    clearTimeout(timer);
    awaited = null;
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    status.textContent = "";
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  // Titles and codes are data: they become text, never markup.
  function makeOption({ kind, pieces, query: asked }, place) {
    const option = document.createElement("li");
    option.id = `cp-box-option-${place}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    const label = document.createElement("span");
    label.className = "cp-box-kind";
    label.textContent = kind;
    const said = document.createElement("span");
    said.className = "cp-box-said";
    said.dir = "auto";
    for (const [text, typed] of pieces) {
      const piece = document.createElement(typed ? "mark" : "span");
      piece.textContent = text;
      said.append(piece);
    }
    option.append(label, " ", said);
    option.addEventListener("click", () => ask(asked));
    return option;
  }

  function move(step) {
    const all = options();
    // One place more than there are options: the text itself.
    const places = all.length + 1;
    active = ((active + 1 + step + places) % places) - 1;
    all.forEach((option, place) => option.setAttribute("aria-selected", String(place === active)));
    if (active < 0) {
      input.removeAttribute("aria-activedescendant");
    } else {
      input.setAttribute("aria-activedescendant", all[active].id);
      all[active].scrollIntoView({ block: "nearest" });
    }
  }

  function ask(text) {
    leaveOff();
    query = input.value = text;
    if (matchMedia("(hover: none)").matches) input.blur(); // puts the keyboard on the screen away
    send("asked", text);
  }

  function typed() {
    leaveOff();
    awaited = input.value;
    if (found()) open();
    else timer = setTimeout(() => post()?.send(awaited), PAUSE_MS);
  }

  input.addEventListener("input", (event) => {
    if (!event.isComposing) typed();
  });
  input.addEventListener("compositionstart", leaveOff);
  input.addEventListener("compositionend", typed);
  input.addEventListener("blur", leaveOff);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen() && found()) open();
      if (isOpen()) {
        event.preventDefault();
        move(event.key === "ArrowDown" ? 1 : -1);
      }
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) options()[active].click();
      else ask(input.value);
    } else if (event.key === "Escape" && isOpen()) {
      event.preventDefault();
      leaveOff();
    }
  });
  // The box keeps the focus while an option is clicked or tapped, or the list is scrolled.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  root.querySelector("button").addEventListener("click", () => ask(input.value));

  listen("cp-begins", () => {
    if (awaited !== null && awaited === input.value && found()) open();
  });
  listen("keydown", (event) => {
    const focused = document.activeElement;
    const free = !focused || focused.contains(root); // the page itself, or what scrolls it
    if (event.key === "/" && free && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });

  // Listen to the document until the box is gone from it.
  function listen(name, hears) {
    document.addEventListener(name, function listener(event) {
      if (root.isConnected) hears(event);
      else document.removeEventListener(name, listener);
    });
  }

  return { hear };
}
