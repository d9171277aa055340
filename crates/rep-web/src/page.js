// Search while typing, live updates of parts of a page, local times and buttons that copy. Every page also works without
// this script.
"use strict";

// Shows times in the time zone and language of the browser. The server renders them in UTC.
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
function localize(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.textContent;
    time.textContent = timeFormat.format(at);
  }
}

// Adds a button that copies a text.
function addCopyButtons(root) {
  for (const place of root.querySelectorAll("[data-copy]:not(:has(button))")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${place.textContent.trim().split("\n")[0].slice(0, 60)}`);
    place.append(button);
  }
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button.copy");
  if (!button) return;
  const source = button.parentElement.querySelector("pre");
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // Browsers offer no clipboard to pages without TLS: select the text, so that the user can copy it.
    getSelection().selectAllChildren(source);
    if (!document.execCommand("copy")) return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2000);
});
localize(document);
addCopyButtons(document);

// Updates an element to match another. Equal parts are not touched, so focus, touch and details opened by the user
// remain. Elements with an id match the element with the same id.
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
  // An item removed from a `data-keep` list becomes inert and stays in place, so that the items after it do not move.
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

// Requests a part of a page and inserts it. The focus stays where it was, or near it.
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
  localize(fresh.content);
  addCopyButtons(fresh.content);
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
      // Screen readers announce the number of results, not the whole list.
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
  // While skills are being read, the list is incomplete.
  setInterval(() => {
    if (place.querySelector("[data-poll]") && !place.hasAttribute("aria-busy") && !document.hidden) ask();
  }, 4000);
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    ask();
  });
}

// The `/` key focuses the search field.
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
      // A question may start or end a run. Active runs show their elapsed time, so a heartbeat updates them.
      const isGoing = word === "alive" && place.querySelector(".going form");
      if (wanted === word || word === "hello" || word === "questions" || isGoing) {
        // Aborts the previous request, whose outdated response must not arrive later.
        asking.get(place)?.abort();
        asking.set(place, new AbortController());
        fill(place, place.dataset.part, asking.get(place).signal).catch(() => {});
      }
    }
  };
  // Submits an answer in the background, so that the page and the scroll position remain.
  const sent = new WeakSet();
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("form[data-stay]");
    if (!form) return;
    event.preventDefault();
    if (sent.has(form)) return;
    sent.add(form);
    const body = new URLSearchParams(new FormData(form, event.submitter));
    // The response redirects to the current page.
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => undefined);
    if (answer?.type === "opaqueredirect") return follow("questions");
    sent.delete(form);
    // The form is older than the server process, and so is the page.
    if (answer) location.reload();
  });
  const changed = () => {
    if (document.getElementById("changed")) return;
    const note = document.createElement("p");
    note.id = "changed";
    note.className = "notice";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "The skills changed: reload the page";
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
  // Browsers limit the connections to one server, so a page that is not visible closes its connection.
  const look = () => {
    if (document.hidden) leaving = setTimeout(leave, 10_000);
    else listen();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", look);
}
