// Of the review page: the draft follows the item beside it, and the page of the source is fetched
// behind the item, that of the next one ahead; after a judgement the next item has the focus.
"use strict";
{
  const center = (part, frame) => {
    if (part) frame.scrollTop += part.getBoundingClientRect().top - frame.getBoundingClientRect().top - frame.clientHeight / 3;
  };
  const follow = () => {
    const now = document.getElementById("now");
    const found = [...document.querySelectorAll(`#draft :is(${now.dataset.find})`)];
    for (const each of document.querySelectorAll("#draft [aria-current]")) each.removeAttribute("aria-current");
    for (const each of found) each.setAttribute("aria-current", "true");
    center(found[0], document.getElementById("draft"));
    // What leads elsewhere from this page leads to the item that is shown now.
    for (const each of document.querySelectorAll("#ways a")) {
      const url = new URL(each.href);
      url.searchParams.set("item", now.dataset.item);
      each.href = url;
    }
    document.querySelector('input[name="back"]').value = now.dataset.address;
    const changed = document.getElementById("changed");
    for (const each of changed ? document.querySelectorAll(`#draft :is(${changed.dataset.find})`) : []) {
      each.className = `said ${changed.dataset.tone}`;
      each.querySelector(".flag")?.replaceChildren(changed.dataset.mark);
    }
  };
  const look = async () => {
    const picture = document.getElementById("picture");
    if (picture?.dataset.load) await desk.swap("picture", picture.dataset.load);
    if (picture) center(picture.querySelector(".evidence"), picture);
    const ahead = document.getElementById("now").dataset.ahead;
    if (!ahead) return;
    const answer = await fetch(ahead, { headers: { "X-Desk-Part": "picture" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const each of page.querySelectorAll("image")) new Image().src = each.getAttribute("href");
  };
  document.addEventListener("desk:swapped", (event) => {
    if (event.target.id !== "item") return;
    if (!document.activeElement.matches(desk.FIELDS)) {
      if (document.getElementById("changed")) event.target.focus({ preventScroll: true });
      const { top } = event.target.getBoundingClientRect();
      if (top < 50 || top > innerHeight) event.target.scrollIntoView();
    }
    history.replaceState(null, "", document.getElementById("now").dataset.address);
    follow();
    look();
  });
  follow();
  look();
}
