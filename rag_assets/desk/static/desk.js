// What the pages need of a script, by attributes; without it they work by links and forms.
//   data-part="x"    a link or form: replace the block #x of this page by the answer's
//   data-push        of such a link or form: the address changes with it
//   data-key="j"     pressing this key outside of a field clicks it
//   data-drop        of a form: files that are chosen, or dropped on the page, are sent at once
//   data-shares      of a table: the share of each value in their sum stands in its row at .share
//   data-stream="…"  append what the stream says; at its end go where it leads
"use strict";
const desk = {
  token: document.querySelector('meta[name="desk-form"]').content,
  // What takes letters; other controls take only the arrows.
  FIELDS: ":is(input, textarea, select, [contenteditable]):not([type=radio], [type=checkbox], [type=file])",
  say(sentence) {
    const notice = document.getElementById("notice");
    notice.textContent = sentence;
    notice.hidden = !sentence;
    if (sentence) notice.scrollIntoView({ block: "nearest" });
  },
  turns: {},
  // Fetch a block of a page and put it in its place; the focus stays on the element of its id.
  async swap(part, url, options = {}) {
    const target = document.getElementById(part);
    const turn = (desk.turns[part] = (desk.turns[part] || 0) + 1);
    target.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(url, { ...options, headers: { "X-Desk-Part": part, "X-Desk-Form": desk.token } });
      const text = await answer.text();
      // A later request has been sent meanwhile: its answer is the one to show.
      if (turn !== desk.turns[part]) return null;
      if (!answer.ok) { desk.say(text); return null; }
      const focused = document.activeElement, focusedHere = target.contains(focused);
      const wasField = focused?.matches(desk.FIELDS);
      target.innerHTML = text;
      // A field that was opened takes what is typed next; a browser does so on loading alone.
      const field = target.querySelector("[autofocus]"), same = focusedHere && document.getElementById(focused.id);
      if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
      if (focusedHere || (field && !wasField)) ((wasField && same) || field || same || target).focus();
      desk.say("");
      desk.begin(target);
      target.dispatchEvent(new CustomEvent("desk:swapped", { bubbles: true }));
      return answer;
    } catch (error) {
      desk.say(String(error.message || error));
      return null;
    } finally {
      if (turn === desk.turns[part]) target.removeAttribute("aria-busy");
    }
  },
  // What is typed while a block that a person asked for is on its way belongs to a field that opens
  // there; else it is pressed afterwards where a page replays keys, and presses nothing elsewhere.
  asked: new Set(),
  typed: [],
  posting: 0,
  replays: false,
  waits: () => [...desk.asked].some((part) => document.getElementById(part).hasAttribute("aria-busy")),
  async ask(part, url, options = {}) {
    const posts = Number(options.method === "POST");
    desk.asked.add(part);
    desk.posting += posts;
    const answer = await desk.swap(part, url, options);
    desk.posting -= posts;
    if (desk.waits()) return answer;
    desk.asked.clear();
    while (desk.typed.length && !desk.waits())
      if (document.activeElement.matches(desk.FIELDS)) document.execCommand("insertText", false, desk.typed.splice(0).join(""));
      else if (!desk.replays) desk.typed = [];
      else document.body.dispatchEvent(new KeyboardEvent("keydown", { key: desk.typed.shift(), bubbles: true, cancelable: true }));
    return answer;
  },
  async follow(event, element, url, options) {
    event.preventDefault();
    const answer = await desk.ask(element.dataset.part, url, options);
    if (answer && "push" in element.dataset) history.replaceState(null, "", answer.url);
  },
  begin(root) {
    for (const list of root.querySelectorAll("[data-stream]")) {
      const source = new EventSource(list.dataset.stream);
      source.addEventListener("item", (event) => list.insertAdjacentHTML("beforeend", event.data));
      source.addEventListener("end", (event) => { source.close(); location.assign(event.data); });
      window.addEventListener("pagehide", () => source.close(), { once: true });
    }
  },
};
window.desk = desk;

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.button) desk.follow(event, link, link.href);
});
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-part]");
  if (!form) return;
  const body = new FormData(form, event.submitter), url = new URL(form.action), reads = form.method === "get";
  if (reads) url.search = new URLSearchParams(body).toString();
  desk.follow(event, form, url, reads ? {} : { method: "POST", body });
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event, field = target.closest(desk.FIELDS);
  if (key === "Escape" && field) { field.blur(); return; }
  if (field || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key.startsWith("Arrow") && target.closest("input, .scroll")) return;
  const pressed = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key.split(" ").includes(key) && !each.disabled);
  // Who steps on need not wait for what is only looked at.
  if (desk.waits() && key.length === 1 && (desk.posting || !pressed?.dataset.step)) desk.typed.push(key);
  else if (pressed?.matches("input, textarea, select")) pressed.focus();
  else if (pressed) pressed.click();
  else return;
  event.preventDefault();
});

// As `fractions` computes them and `share` writes them; a sum of large values would be infinite.
document.addEventListener("input", (event) => {
  const table = event.target.closest("[data-shares]");
  if (!table || event.target.name !== "value") return;
  const fields = [...table.querySelectorAll("[name=value]")].filter((each) => each.value.trim());
  const values = fields.map((each) => (/^[\s\d.e+-]*$/i.test(each.value) ? Number(each.value) : NaN));
  const largest = Math.max(...values), known = values.every((each) => each >= 0 && each < Infinity);
  const sum = values.reduce((all, each) => all + each / (largest || 1), 0) || 1;
  const rounded = { minimumFractionDigits: 3, maximumFractionDigits: 3, roundingMode: "halfEven" };
  for (const each of table.querySelectorAll(".share")) each.textContent = "–";
  if (known) for (const [at, field] of fields.entries())
    field.closest("tr").querySelector(".share").textContent = (values[at] / (largest || 1) / sum).toLocaleString("en", rounded);
  document.getElementById("all-zero").hidden = !known || largest !== 0;
});

// Files go to the form of the section that they are dropped on, else to the first of the page.
document.addEventListener("change", ({ target }) => target.files?.length && target.closest("form[data-drop]")?.requestSubmit());
for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, (event) => {
  const form = (event.target.closest?.("section:has([data-drop])") || document).querySelector("form[data-drop]");
  if (!form || !event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  form.parentElement.classList.toggle("over", kind === "dragover");
  if (kind !== "drop") return;
  form.elements.file.files = event.dataTransfer.files;
  form.requestSubmit();
});

desk.begin(document);
