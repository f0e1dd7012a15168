"use strict";

// What the pages for votes and for ratings share: time in view, sending, messages. `take` and `undo` are the page's own.
const main = document.querySelector("main");
const session = document.getElementById("session");
const statusLine = document.getElementById("status");
const problem = document.getElementById("problem");
const SETTLE = 350; // ms in which the second click of a double click would hit the next item
const SHOWN = 2500; // ms for which a message of success stays

let busy = false;
let last = ""; // what was sent before
let shownAt = performance.now();
let inView = 0;
let viewedSince = document.hidden ? null : performance.now();
let hiding = 0;

const item = () => session.querySelector("[data-done]");
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

document.addEventListener("visibilitychange", () => {
  if (document.hidden && viewedSince !== null) {
    inView += performance.now() - viewedSince;
    viewedSince = null;
  } else if (!document.hidden) viewedSince = performance.now();
});

function seconds() {
  return (inView + (viewedSince === null ? 0 : performance.now() - viewedSince)) / 1000;
}

function show(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  session.replaceChildren(...parsed.body.childNodes);
  document.querySelector("details.guide").open = false;
  shownAt = performance.now();
  inView = 0;
  viewedSince = document.hidden ? null : shownAt;
  window.scrollTo(0, 0);
  document.getElementById("start").focus({ preventScroll: true });
}

function tell(text) {
  problem.textContent = "";
  statusLine.textContent = text;
  clearTimeout(hiding);
  hiding = setTimeout(() => (statusLine.textContent = ""), SHOWN);
}

async function send(action, body, button, message) {
  // To take back what was just saved is no second click; to take back one more may be.
  if (busy || (performance.now() - shownAt < SETTLE && (action !== "undo" || last === "" || last === "undo"))) return;
  busy = true;
  button?.classList.add("chosen");
  session.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`${main.dataset.address}/${action}?language=${main.dataset.language}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-URS-Inspect": "1" },
      body: JSON.stringify(body),
    });
    if (answer.ok) {
      last = action;
      show(await answer.text());
      tell(fill(message, item().dataset));
    } else {
      const found = await answer.json().catch(() => ({ problem: answer.status }));
      problem.textContent = fill(main.dataset.notSaved, { reason: found.problem });
    }
  } catch {
    problem.textContent = main.dataset.noAnswer;
  } finally {
    button?.classList.remove("chosen");
    session.removeAttribute("aria-busy");
    busy = false;
  }
}
