// Of the review page: the draft follows the item beside it, and the page of the source is fetched
// behind the item, that of the next one ahead; after a judgement the next item has the focus.
"use strict";
{
  const follow = () => {
    const now = document.getElementById("now");
    for (const each of document.querySelectorAll("#draft [aria-current]")) each.removeAttribute("aria-current");
    const found = [...document.querySelectorAll(`#draft :is(${now.dataset.find})`)];
    for (const each of found) each.setAttribute("aria-current", "true");
    const draft = document.getElementById("draft");
    if (found[0]) draft.scrollTop += found[0].getBoundingClientRect().top - draft.getBoundingClientRect().top - draft.clientHeight / 3;
    // What leads elsewhere from this page leads to the item that is shown now.
    for (const each of document.querySelectorAll("#ways a")) {
      const url = new URL(each.href);
      url.searchParams.set("item", now.dataset.item);
      each.href = url;
    }
    const back = document.querySelector('input[name="back"]'), here = new URL(location);
    here.searchParams.set("item", now.dataset.item);
    back.value = here.pathname + here.search;
    const changed = document.getElementById("changed");
    for (const each of changed ? document.querySelectorAll(`#draft :is(${changed.dataset.find})`) : []) {
      each.classList.remove("good", "weak", "bad");
      each.classList.add(changed.dataset.tone);
      const flag = each.querySelector(".flag");
      if (flag) flag.textContent = changed.dataset.mark;
    }
  };
  const toEvidence = (picture) => {
    const mark = picture.querySelector(".evidence");
    if (mark) picture.scrollTop = mark.getBoundingClientRect().top - picture.getBoundingClientRect().top - picture.clientHeight / 3;
  };
  const look = async () => {
    const picture = document.getElementById("picture");
    if (picture?.dataset.load) await desk.swap("picture", picture.dataset.load);
    if (picture) toEvidence(picture);
    const ahead = document.getElementById("now").dataset.ahead;
    if (!ahead) return;
    const answer = await fetch(ahead, { headers: { "X-Desk-Part": "picture" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const each of page.querySelectorAll("image")) new Image().src = each.getAttribute("href");
  };
  document.addEventListener("desk:swapped", (event) => {
    if (event.target.id !== "item") return;
    if (document.getElementById("changed") && !document.activeElement.matches(desk.FIELDS)) event.target.focus();
    history.replaceState(null, "", document.getElementById("now").dataset.address);
    follow();
    look();
  });
  follow();
  look();
}
