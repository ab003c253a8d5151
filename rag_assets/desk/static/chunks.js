// The chunk editor with a script: the list follows by the rows that changed; keys in the text;
// dragging. Without it every form and link leads to the whole page.
"use strict";
(() => {
  const list = document.getElementById("chunklist"), panel = document.getElementById("chunk");
  const state = () => document.getElementById("chunkstate").dataset;
  const text = () => document.getElementById("text");
  const isChanged = () => text() && ("unsaved" in text().dataset || text().value !== text().defaultValue);
  const isBusy = () => panel.hasAttribute("aria-busy");
  const SETTLED_MS = 60, AROUND = 100, EDGE = 20, EDGE_PIXELS = 300;
  let posting = false, waiting = [], shown = state().here, later;

  // True where a text would be lost; says so.
  function holds() {
    if (!isChanged()) return false;
    desk.say(state().unsaved);
    text().focus();
    return true;
  }
  // Of a long list the rows around the chosen one are laid out, and more as one scrolls to them:
  // a thousand rows would cost every key a tenth of a second.
  let first = 0, last = list.children.length;
  function lay(from, to) {
    first = Math.max(0, from);
    last = Math.min(list.children.length, to);
    let place = 0;
    for (const row of list.children) {
      const isOut = place < first || place >= last;
      place += 1;
      if (row.hidden !== isOut) row.hidden = isOut;
    }
    list.style.counterReset = `chunk ${first - 1}`;
  }
  function reach(row) {
    const at = [...list.children].indexOf(row);
    const isNear = (at < first + EDGE && first > 0) || (at >= last - EDGE && last < list.children.length);
    if (row && (row.hidden || isNear)) lay(at - AROUND, at + AROUND);
  }
  list.parentElement.addEventListener("scroll", ({ target }) => {
    const below = target.scrollHeight - target.scrollTop - target.clientHeight;
    if (target.scrollTop < EDGE_PIXELS && first > 0) lay(first - AROUND, last);
    if (below < EDGE_PIXELS && last < list.children.length) lay(first, last + AROUND);
  });
  function mark(key) {
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    list.querySelector('a[tabindex="0"]')?.setAttribute("tabindex", "-1");
    const row = document.getElementById(`c-${key}`);
    reach(row);
    row?.setAttribute("aria-current", "true");
    row?.firstElementChild.setAttribute("tabindex", "0");
    row?.scrollIntoView({ block: "nearest" });
  }
  function go(key) {
    if (!key || posting || holds()) return;
    mark(key);
    desk.swap("chunk", `${state().base}?chunk=${key}&seen=${state().seen}`);
  }
  function send(values) {
    if (isBusy() || holds()) return;
    posting = true;
    desk.swap("chunk", state().base, { method: "POST", body: new URLSearchParams({ seen: state().seen, ...values }) });
  }

  panel.addEventListener("desk:swapped", () => {
    const now = state();
    if ("first" in now) {
      const place = Number(now.first);
      for (const row of [...list.children].slice(place, place + Number(now.count))) row.remove();
      list.insertBefore(document.getElementById("splice").content, list.children[place] || null);
      lay(first, Math.max(last, first + 2 * AROUND));
    }
    mark(now.keyNow);
    history.replaceState(null, "", now.here);
    document.querySelector('.language [name="back"]').value = now.here;
    clearTimeout(later); // who steps on does not wait for pages that are drawn
    if (shown !== now.here) later = setTimeout(() => { shown = now.here; desk.swap("source", shown); }, SETTLED_MS);
  });
  document.getElementById("source").addEventListener("desk:swapped", (event) =>
    event.target.querySelector(".evidence, mark")?.scrollIntoView({ block: "nearest" }));

  // While an operation is on its way its window has an old revision: what is pressed then waits.
  new MutationObserver(() => {
    posting &&= isBusy();
    while (waiting.length && !isBusy())
      // What is typed behind the key that leads into a field is text, no keys.
      if (document.activeElement.matches(desk.FIELDS)) document.execCommand("insertText", false, waiting.splice(0).join(""));
      else document.body.dispatchEvent(new KeyboardEvent("keydown", { key: waiting.shift(), bubbles: true }));
  }).observe(panel, { attributes: true, attributeFilter: ["aria-busy"] });

  document.addEventListener("keydown", (event) => {
    const inText = event.target === text(), enter = event.key === "Enter" && inText;
    const button = enter && (event.ctrlKey || event.metaKey) ? "save" : enter && event.altKey ? "split"
      : !inText && event.altKey && { ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (button) document.getElementById(button)?.click();
    else {
      const isFree = !event.target.closest(desk.FIELDS) && !event.ctrlKey && !event.metaKey;
      if (!isFree || !isBusy() || event.key.length > 1 || (!posting && "jk".includes(event.key))) return;
      waiting.push(event.key);
    }
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
    const isFree = !isBusy() && (form.id === "textform" || !holds());
    if (isFree) posting = form.method === "post";
    else { event.preventDefault(); event.stopImmediatePropagation(); }
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

  const begun = [...list.children].findIndex((row) => row.hasAttribute("aria-current"));
  lay(begun - AROUND, begun + AROUND);
})();
