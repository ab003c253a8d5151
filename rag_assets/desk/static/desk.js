// What the pages need of a script, by attributes; without it they work by links and forms.
//   data-part="x"    a link or form: replace the block #x of this page by the answer's
//   data-push        of such a link or form: the address changes with it
//   data-key="j"     pressing this key outside of a field clicks it
//   data-drop        of a form: files dropped on it are put into its field
//   data-shares      of a table: the share of each value in their sum stands in its row at .share
//   data-stream="…"  append what the stream says; at its end go where it leads
"use strict";
const desk = {
  token: document.querySelector('meta[name="desk-form"]').content,
  say(sentence) {
    const notice = document.getElementById("notice");
    notice.textContent = sentence;
    notice.hidden = !sentence;
    if (sentence) notice.scrollIntoView({ block: "nearest" });
  },
  // Fetch a block of a page and put it in its place; the focus stays on the element of its id.
  async swap(part, url, options = {}) {
    const target = document.getElementById(part);
    const turn = (desk.turns[part] = (desk.turns[part] || 0) + 1);
    target.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(url, {
        ...options, headers: { "X-Desk-Part": part, "X-Desk-Form": desk.token },
      });
      const text = await answer.text();
      // A later request has been sent meanwhile: its answer is the one to show.
      if (turn !== desk.turns[part]) return null;
      if (!answer.ok) { desk.say(text); return null; }
      const focused = document.activeElement, focusedHere = target.contains(focused);
      const wasField = focused && focused.matches(desk.FIELDS);
      target.innerHTML = text;
      // A field that was opened takes what is typed next; a browser does so on loading alone.
      const field = target.querySelector("[autofocus]"), same = focusedHere && document.getElementById(focused.id);
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
  turns: {},
  FIELDS: "input, textarea, select, [contenteditable]",
  // What is typed while a block that a person asked for is on its way belongs to a field that opens
  // there; it presses no key of what the block replaces.
  asked: new Set(),
  typed: "",
  waits: () => [...desk.asked].some((part) => document.getElementById(part).hasAttribute("aria-busy")),
  async ask(part, url, options) {
    desk.asked.add(part);
    const answer = await desk.swap(part, url, options);
    if (desk.waits()) return answer;
    desk.asked.clear();
    if (desk.typed && document.activeElement.matches(desk.FIELDS))
      document.execCommand("insertText", false, desk.typed);
    desk.typed = "";
    return answer;
  },
  begin(root) {
    for (const list of root.querySelectorAll("[data-stream]")) {
      const source = new EventSource(list.dataset.stream);
      // What the page holds already is sent again on a first connection: drop as many.
      let seen = Number(list.dataset.seen || 0);
      source.addEventListener("item", (event) => {
        if (Number(event.lastEventId) <= seen) return;
        seen = Number(event.lastEventId);
        list.insertAdjacentHTML("beforeend", event.data);
      });
      source.addEventListener("end", (event) => { source.close(); location.assign(event.data); });
      window.addEventListener("pagehide", () => source.close(), { once: true });
    }
  },
};
window.desk = desk;

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const answer = await desk.ask(link.dataset.part, link.href);
  if (answer && "push" in link.dataset) history.replaceState(null, "", answer.url);
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-part]");
  if (!form) return;
  event.preventDefault();
  const body = new FormData(form, event.submitter);
  const reads = form.method === "get";
  const url = new URL(form.action);
  if (reads) url.search = new URLSearchParams(body).toString();
  const answer = await desk.ask(form.dataset.part, url, reads ? {} : { method: "POST", body });
  if (answer && "push" in form.dataset) history.replaceState(null, "", answer.url);
});

document.addEventListener("keydown", (event) => {
  const field = event.target.closest(desk.FIELDS);
  if (event.key === "Escape" && field) { field.blur(); return; }
  if (field || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (desk.waits() && event.key.length === 1) { desk.typed += event.key; event.preventDefault(); return; }
  const pressed = [...document.querySelectorAll("[data-key]")].find(
    (each) => each.dataset.key.split(" ").includes(event.key) && !each.disabled,
  );
  if (!pressed) return;
  event.preventDefault();
  if (pressed.matches("input, textarea, select")) pressed.focus();
  else pressed.click();
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
  fields.forEach((field, at) => {
    if (known) field.closest("tr").querySelector(".share").textContent =
      (values[at] / (largest || 1) / sum).toLocaleString("en", rounded);
  });
  document.getElementById("all-zero").hidden = !known || largest !== 0;
});

// Files are sent once they are chosen, or dropped anywhere: to the form of the section, else to the first.
document.addEventListener("change", (event) => {
  if (event.target.files?.length) event.target.closest("form[data-drop]")?.requestSubmit();
});
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
