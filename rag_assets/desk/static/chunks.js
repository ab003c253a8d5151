// The chunk editor with a script: the list follows by the rows that changed; keys in the text;
// dragging. Without it every form and link leads to the whole page.
"use strict";
(() => {
  const list = document.getElementById("chunklist"), panel = document.getElementById("chunk");
  const state = () => document.getElementById("chunkstate").dataset;
  const text = () => document.getElementById("text");
  const isChanged = () => text() && ("unsaved" in text().dataset || text().value !== text().defaultValue);
  const isBusy = () => panel.hasAttribute("aria-busy");
  const SETTLED_MS = 60;
  let shown = state().here, later;
  // While an operation is on its way its window has an old revision: what is pressed then waits.
  desk.replays = true;

  // True where a text would be lost; says so.
  function holds() {
    if (!isChanged()) return false;
    desk.say(state().unsaved);
    text().focus();
    return true;
  }
  function mark(key) {
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    list.querySelector('a[tabindex="0"]')?.setAttribute("tabindex", "-1");
    const row = document.getElementById(`c-${key}`);
    row?.setAttribute("aria-current", "true");
    row?.firstElementChild.setAttribute("tabindex", "0");
    row?.scrollIntoView({ block: "nearest" });
  }
  function go(key) {
    if (!key || desk.posting || holds()) return;
    mark(key);
    desk.ask("chunk", `${state().base}?chunk=${key}&seen=${state().seen}`);
  }
  function send(values) {
    if (isBusy() || holds()) return;
    desk.ask("chunk", state().base, { method: "POST", body: new URLSearchParams({ seen: state().seen, ...values }) });
  }

  panel.addEventListener("desk:swapped", () => {
    const now = state();
    if ("first" in now) {
      const place = Number(now.first);
      for (const row of [...list.children].slice(place, place + Number(now.count))) row.remove();
      list.insertBefore(document.getElementById("splice").content, list.children[place] || null);
    }
    mark(now.keyNow);
    history.replaceState(null, "", now.here);
    document.querySelector('.language [name="back"]').value = now.here;
    clearTimeout(later); // who steps on does not wait for pages that are drawn
    if (shown !== now.here) later = setTimeout(() => { shown = now.here; desk.swap("source", shown); }, SETTLED_MS);
  });
  document.getElementById("source").addEventListener("desk:swapped", (event) =>
    event.target.querySelector(".evidence, mark")?.scrollIntoView({ block: "nearest" }));

  document.addEventListener("keydown", (event) => {
    const inText = event.target === text(), enter = event.key === "Enter" && inText;
    const button = enter && (event.ctrlKey || event.metaKey) ? "save" : enter && event.altKey ? "split"
      : !inText && event.altKey && { ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (!button) return;
    document.getElementById(button)?.click();
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-step], a[data-go], #chunklist a");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const current = list.querySelector("[aria-current]"), { step, go: named } = link.dataset;
      const row = step === "1" ? current?.nextElementSibling : step ? current?.previousElementSibling : link.closest("li");
      go(row?.dataset.chunk ?? named);
    } else if (event.target.closest("#split")) {
      const field = text(), at = field.selectionStart;
      // Counted in characters, not in the halves that a script counts.
      field.form.elements.offset.value = [...field.value.slice(0, at)].length;
      if ((at > 0 && at < field.value.length) || isChanged()) return;
      event.preventDefault();
      const places = document.getElementById("sentences");
      if (places) places.open = true;
      (places?.querySelector("button") || field).focus();
    }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.part !== "chunk") return;
    if (!isBusy() && (form.id === "textform" || !holds())) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  window.addEventListener("beforeunload", (event) => { if (isChanged()) event.preventDefault(); });

  let dragged = null; // a row of the list
  const sides = ["move_before", "move_after"];
  const clear = () => list.querySelector(".move_before, .move_after")?.classList.remove(...sides);
  list.addEventListener("dragstart", (event) => { dragged = event.target.closest("li[data-chunk]"); });
  for (const kind of ["dragover", "drop"]) list.addEventListener(kind, (event) => {
    const row = event.target.closest("li[data-chunk]"), box = row?.getBoundingClientRect();
    clear();
    if (!dragged || !row || row === dragged) return;
    event.preventDefault();
    const side = sides[Number(event.clientY > box.top + box.height / 2)];
    if (kind === "dragover") row.classList.add(side);
    else send({ do: side, chunk: dragged.dataset.chunk, other: row.dataset.chunk });
  });
  list.addEventListener("dragend", () => { clear(); dragged = null; });
  mark(state().keyNow);
})();
