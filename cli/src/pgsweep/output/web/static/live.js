// Fetches the contents of the page again and again, and puts them in place of the old ones. What is
// focused, opened or scrolled stays so. Without this script the pages are complete, and stay as
// they were when they were loaded.
"use strict";
(() => {
  const live = document.getElementById("live");
  const lost = document.getElementById("lost");
  const pause = document.getElementById("pause");
  const everyMs = 1000 * Number(live.dataset.every);
  const PATIENCE_MS = 15000;
  let last = null;
  let paused = false;
  // Without contents it is tried again soon.
  let settled = false;
  const SOON_MS = 2000;

  // Somebody is selecting text, about to type or to choose something, or pressing a button.
  function busy() {
    const chosen = document.getSelection();
    const focused = document.activeElement;
    return (
      (chosen !== null && !chosen.isCollapsed && live.contains(chosen.anchorNode)) ||
      (live.contains(focused) && focused.matches("input, select")) ||
      live.querySelector(":active") !== null
    );
  }

  // How to find an element again: by its id, by where it leads, or as a part of what has an id.
  function place(element) {
    if (element.id) return `#${CSS.escape(element.id)}`;
    const href = element.getAttribute("href");
    if (href !== null) return `a[href="${CSS.escape(href)}"]`;
    const owner = element.closest("details[id]");
    if (owner !== null) return `#${CSS.escape(owner.id)} > summary`;
    return element.matches(".scroll") ? ".scroll" : null;
  }

  function put(html) {
    if (html === last || paused || busy()) return;
    const focused = live.contains(document.activeElement) ? document.activeElement : null;
    const where = focused === null ? null : place(focused);
    const which = where === null ? -1 : [...live.querySelectorAll(where)].indexOf(focused);
    const open = [...live.querySelectorAll("details[open]")].map((each) => each.id);
    const scrolled = [...live.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    live.innerHTML = html;
    last = html;
    document.dispatchEvent(new Event("replaced"));
    // The page of a table learns its name later.
    const named = document.getElementById("named");
    if (named !== null) {
      document.querySelector("h1").textContent = named.textContent;
      document.title = `${named.textContent} · ${live.dataset.of}`;
    }
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    live.querySelectorAll(".scroll").forEach((each, i) => (each.scrollLeft = scrolled[i] ?? 0));
    if (which >= 0) live.querySelectorAll(where)[which]?.focus({ preventScroll: true });
  }

  function tell(trouble) {
    lost.hidden = trouble === "";
    if (lost.textContent !== trouble) lost.textContent = trouble;
  }

  async function look() {
    const address = new URL(location.href);
    address.searchParams.set("part", "1");
    address.hash = "";
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(address, { redirect: "manual", cache: "no-store", signal });
    if (answer.type === "opaqueredirect") {
      tell("✗ You are not signed in any more. Load the page again to sign in.");
      return;
    }
    const type = answer.headers.get("content-type") ?? "";
    if (!type.startsWith("text/html")) throw new Error(`answer ${answer.status}`);
    settled = answer.status === 200;
    // What is still being made takes the place of nothing.
    if (answer.status !== 202) put(await answer.text());
    tell("");
  }

  async function again() {
    if (!document.hidden && !paused) {
      try {
        await look();
      } catch {
        tell("✗ pgsweep serve does not answer. What is shown is old. It is asked again every few seconds.");
      }
    }
    setTimeout(again, settled ? everyMs : Math.min(everyMs, SOON_MS));
  }

  if (everyMs > 0) {
    pause.hidden = false;
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? "Go on" : "Pause";
    });
    setTimeout(again, "reading" in live.dataset ? 0 : everyMs);
  }
})();
