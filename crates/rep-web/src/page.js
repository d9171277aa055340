// Search while one types, and parts of the page that follow what happens. Every page works without this.
"use strict";

// Makes one element like another and leaves alone what is like it already: what has the focus, a finger on it, or was
// opened by somebody. Elements with an id are the same where the id is.
function become(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  renew(old, fresh);
}

function renew(old, fresh) {
  let next = old.firstChild;
  // What is gone from a list that is kept stays in its place, and can do nothing: what follows does not move.
  const pass = (end) => {
    while (next && next !== end) {
      const gone = next;
      next = next.nextSibling;
      if (old.hasAttribute("data-keep")) gone.inert = true;
      else gone.remove();
    }
  };
  for (const one of [...fresh.childNodes]) {
    const same = one.id ? [...old.children].find((child) => child.id === one.id) : next;
    if (same && same.nodeName === one.nodeName && (same.id ?? "") === (one.id ?? "")) {
      pass(same);
      next = same.nextSibling;
      become(same, one);
    } else old.insertBefore(one, next);
  }
  pass(null);
}

// Asks for a part of a page and puts it in place; the focus stays where it was, or near it.
async function fill(place, address, signal) {
  const answer = await fetch(address, { signal, credentials: "same-origin", headers: { Accept: "text/html" } });
  if (answer.status === 401 || answer.redirected) return location.reload();
  if (!answer.ok) return;
  const text = await answer.text();
  if (text === place.dataset.seen) return;
  place.dataset.seen = text;
  const focused = place.contains(document.activeElement) ? document.activeElement : undefined;
  const around = focused?.closest("li[id]")?.id;
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  renew(place, fresh.content);
  if (!focused || (focused.isConnected && !focused.closest("[inert]"))) return;
  const near = document.getElementById(around) ?? place;
  if (near === place) place.tabIndex = -1;
  near.focus({ preventScroll: true });
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
      // A question begins or ends something, too; and what goes on says for how long.
      const isGoing = word === "alive" && place.querySelector(".going form");
      if (wanted === word || word === "hello" || word === "questions" || isGoing) {
        // What was asked for before is old by now, and must not come after.
        asking.get(place)?.abort();
        asking.set(place, new AbortController());
        fill(place, place.dataset.part, asking.get(place).signal).catch(() => {});
      }
    }
  };
  // An answer is sent from where it is given: the page stays, and so does the place one is at.
  const sent = new WeakSet();
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("form[data-stay]");
    if (!form) return;
    event.preventDefault();
    if (sent.has(form)) return;
    sent.add(form);
    const body = new URLSearchParams(new FormData(form, event.submitter));
    // It leads on to the page that one is on already.
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => undefined);
    if (answer?.type === "opaqueredirect") return follow("questions");
    sent.delete(form);
    // A form of before the server started again: the page is, too.
    if (answer) location.reload();
  });
  const changed = () => {
    if (document.getElementById("changed")) return;
    const note = document.createElement("p");
    note.id = "changed";
    note.className = "notice";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "The skills changed: load the page again";
    note.append(link);
    document.getElementById("notices")?.append(note);
  };
  const live = (is) => document.documentElement.classList.toggle("is-live", is);
  let events, leaving;
  const listen = () => {
    clearTimeout(leaving);
    if (events) return;
    events = new EventSource("/events");
    for (const word of ["hello", "runs", "questions", "alive"]) events.addEventListener(word, () => follow(word));
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
