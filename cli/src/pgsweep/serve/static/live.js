// Fetches the contents of the page again and again, and puts them in place of the old ones. What is
// focused, opened or scrolled stays so. Without this script the pages are complete, and stay as
// they were when they were loaded.
"use strict";
(() => {
  const live = document.getElementById("live");
  const lost = document.getElementById("lost");
  const everyMs = 1000 * Number(live.dataset.every);
  let last = null;

  function selecting() {
    const chosen = document.getSelection();
    return chosen !== null && !chosen.isCollapsed && live.contains(chosen.anchorNode);
  }

  // Somebody is about to type or to choose something.
  function filling() {
    const focused = document.activeElement;
    return live.contains(focused) && focused.matches("input, select");
  }

  function put(html) {
    if (html === last || selecting() || filling()) return;
    const focused = live.contains(document.activeElement) ? document.activeElement : null;
    const open = [...live.querySelectorAll("details[open]")].map((each) => each.id);
    const scrolled = [...live.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    const region = focused === null ? -1 : [...live.querySelectorAll(".scroll")].indexOf(focused);
    live.innerHTML = html;
    last = html;
    // The page of a table learns its name later.
    const named = document.getElementById("named");
    if (named !== null) {
      document.querySelector("h1").textContent = named.textContent;
      document.title = `${named.textContent} · pg_sweep`;
    }
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    const regions = live.querySelectorAll(".scroll");
    regions.forEach((each, i) => (each.scrollLeft = scrolled[i] ?? 0));
    const again = focused?.id ? document.getElementById(focused.id) : regions[region];
    again?.focus({ preventScroll: true });
  }

  function tell(trouble) {
    lost.hidden = trouble === "";
    if (lost.textContent !== trouble) lost.textContent = trouble;
  }

  async function again() {
    if (!document.hidden) {
      const address = new URL(location.href);
      address.searchParams.set("part", "1");
      address.hash = "";
      try {
        const answer = await fetch(address, { redirect: "error", cache: "no-store" });
        const type = answer.headers.get("content-type") ?? "";
        if (!type.startsWith("text/html")) throw new Error(`answer ${answer.status}`);
        put(await answer.text());
        tell("");
      } catch {
        tell("✗ pgsweep serve does not answer. What is shown is old. It is asked again every few seconds.");
      }
    }
    setTimeout(again, everyMs);
  }

  if (everyMs > 0) setTimeout(again, "reading" in live.dataset ? 0 : everyMs);
})();
