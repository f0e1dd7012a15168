"use strict";

const groups = () => [...session.querySelectorAll("fieldset")];
const chosen = (group) => group.querySelector("input:checked");
const active = () => session.querySelector("fieldset.active");

/** Make a group the one that digits go to; its chosen or first score gets the focus. */
function activate(group, focus = true) {
  if (!group) return;
  active()?.classList.remove("active");
  group.classList.add("active");
  if (!focus) return;
  (chosen(group) ?? group.querySelector("input")).focus({ preventScroll: true });
  const panel = session.querySelector(".scores");
  if (panel.scrollHeight > panel.clientHeight) // the scores scroll by themselves, and the answer stays where it is
    panel.scrollTop += group.getBoundingClientRect().bottom - panel.getBoundingClientRect().bottom + group.offsetHeight;
  else group.scrollIntoView({ block: "nearest" });
}

let bandsOpen = true;

function start() {
  const bands = session.querySelector("details.bands");
  if (bands) bands.open = bandsOpen;
  activate(groups().find((group) => !chosen(group)) ?? groups()[0], false);
}

function choose(digit) {
  const group = active();
  const input = group?.querySelector(`input[value="${digit === "0" ? 10 : digit}"]`);
  if (!input) return;
  input.checked = true;
  group.classList.remove("missing");
  problem.textContent = "";
  activate(groups()[groups().indexOf(group) + 1] ?? group);
}

function step(by) {
  const all = groups();
  activate(all[Math.min(all.length - 1, Math.max(0, all.indexOf(active()) + by))]);
}

function save() {
  const answer = item().dataset.answer;
  if (!answer || performance.now() - shownAt < SETTLE) return; // a second Enter is not about the next answer
  const missing = groups().filter((group) => !chosen(group));
  for (const group of groups()) group.classList.toggle("missing", missing.includes(group));
  if (missing.length) {
    activate(missing[0]);
    const names = missing.map((group) => group.querySelector("legend").textContent.trim());
    problem.textContent = fill(main.dataset.missing, { names: names.join(main.dataset.comma) });
    return;
  }
  const scores = Object.fromEntries(groups().map((group) => [group.dataset.key, Number(chosen(group).value)]));
  const { final, ...criteria } = scores;
  const body = { answer, final, criteria, seconds: seconds() };
  send("cast", body, session.querySelector("[data-save]"), main.dataset.saved).then(start);
}

function undo() {
  const answer = item().dataset.last;
  if (answer) send("undo", { answer }, session.querySelector("[data-undo]"), main.dataset.undone).then(start);
}

function cannotTell() {
  const answer = item().dataset.answer;
  if (!answer) return;
  send("cannot_tell", { answer, seconds: seconds() }, session.querySelector("[data-cannot-tell]"), main.dataset.saved).then(start);
}

session.addEventListener("click", (event) => {
  if (event.target.closest("[data-cannot-tell]")) cannotTell();
  if (event.target.closest("[data-undo]")) undo();
});

session.addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});

session.addEventListener(
  "toggle",
  (event) => {
    if (event.target.matches("details.bands")) bandsOpen = event.target.open;
  },
  true,
);

session.addEventListener("focusin", (event) => activate(event.target.closest("fieldset"), false));

session.addEventListener("change", (event) => event.target.closest("fieldset")?.classList.remove("missing"));

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (/^[0-9]$/.test(event.key)) choose(event.key);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (!event.target.closest("fieldset")) return; // elsewhere arrows scroll
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && !event.target.closest("button, summary, a")) {
    event.preventDefault();
    save();
  } else if (event.key === "c" || event.key === "C") cannotTell();
  else if (event.key === "u" || event.key === "U") undo();
});

start();
