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
  const follow = (word) => {
    for (const place of parts) {
      const wanted = place.dataset.on;
      // A question begins or ends something, too.
      if (wanted === word || word === "hello" || word === "questions") {
        fill(place, place.dataset.part).catch(() => {});
      }
    }
  };
  const events = new EventSource("/events");
  for (const word of ["hello", "runs", "questions"]) events.addEventListener(word, () => follow(word));
  events.addEventListener("hello", () => document.documentElement.classList.add("is-live"));
  events.addEventListener("error", () => document.documentElement.classList.remove("is-live"));
  events.addEventListener("library", () => {
    if (document.getElementById("changed")) return;
    const note = document.createElement("p");
    note.id = "changed";
    note.className = "notice";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "The skills changed: load the page again";
    note.append(link);
    document.getElementById("notices")?.after(note);
  });
  addEventListener("pagehide", () => events.close());
}
