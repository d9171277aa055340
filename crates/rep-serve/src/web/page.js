// Search while one types, and parts of the page that follow what happens. Every page works without this.
"use strict";

// Asks for a part of a page and puts it in place; the focus stays where it was.
async function fill(place, address, signal) {
  const answer = await fetch(address, { signal, credentials: "same-origin", headers: { Accept: "text/html" } });
  if (answer.status === 401 || answer.redirected) return location.reload();
  if (!answer.ok) return;
  const text = await answer.text();
  if (text === place.dataset.seen) return;
  place.dataset.seen = text;
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...place.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
  place.innerHTML = text;
  for (const summary of place.querySelectorAll("details > summary")) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  }
  if (focused) document.getElementById(focused)?.focus();
}

for (const form of document.querySelectorAll("form[data-live]")) {
  const place = document.getElementById(form.dataset.live);
  let waiting, asking;
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const words = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...words]) if (!value) words.delete(name);
    const query = words.toString();
    history.replaceState(null, "", query ? `${form.action}?${query}` : form.action);
    words.set("part", "1");
    place.setAttribute("aria-busy", "true");
    try {
      await fill(place, `${form.action}?${words}`, asking.signal);
      place.removeAttribute("aria-busy");
      // Who cannot see the list hears how many there are, and not all of them.
      const found = document.getElementById(`${place.id}-found`);
      if (found) found.textContent = place.querySelector(".count")?.textContent ?? "";
    } catch (error) {
      if (error.name !== "AbortError") place.removeAttribute("aria-busy");
    }
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 120);
  };
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    ask();
  });
}

// A slash goes to the search, as in many places.
document.addEventListener("keydown", (event) => {
  const search = document.querySelector("input[type=search]");
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "/" && search && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});

const parts = [...document.querySelectorAll("[data-part]")];
if (parts.length) {
  const asking = new Map();
  const follow = (word) => {
    for (const place of parts) {
      const wanted = place.dataset.on;
      // A question begins or ends something, too.
      if (wanted === word || word === "hello" || word === "questions") {
        // What was asked for before is old by now, and must not come after.
        asking.get(place)?.abort();
        asking.set(place, new AbortController());
        fill(place, place.dataset.part, asking.get(place).signal).catch(() => {});
      }
    }
  };
  const changed = () => {
    if (document.getElementById("changed")) return;
    const note = document.createElement("p");
    note.id = "changed";
    note.className = "notice";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "The skills changed: load the page again";
    note.append(link);
    document.getElementById("notices")?.after(note);
  };
  const live = (is) => document.documentElement.classList.toggle("is-live", is);
  let events, leaving;
  const listen = () => {
    clearTimeout(leaving);
    if (events) return;
    events = new EventSource("/events");
    for (const word of ["hello", "runs", "questions"]) events.addEventListener(word, () => follow(word));
    events.addEventListener("hello", () => live(true));
    events.addEventListener("error", () => live(false));
    events.addEventListener("library", changed);
  };
  const leave = () => {
    events?.close();
    events = undefined;
    live(false);
  };
  // Browsers hold few connections to one server: a page that nobody looks at gives its own back.
  const look = () => {
    if (document.hidden) leaving = setTimeout(leave, 10_000);
    else listen();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", look);
}
