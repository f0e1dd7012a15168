"use strict";

const CHOICE_BY_KEY = { 1: "left", 2: "tie", 3: "right", 0: "cannot_tell" };

function vote(choice) {
  const ballot = item().dataset.ballot;
  const button = session.querySelector(`[data-choice="${choice}"]`);
  if (ballot) send("cast", { ballot, choice, seconds: seconds() }, button, main.dataset.saved);
}

function undo() {
  const ballot = item().dataset.last;
  if (ballot) send("undo", { ballot }, session.querySelector("[data-undo]"), main.dataset.undone);
}

session.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.choice) vote(button.dataset.choice);
  else if (button && "undo" in button.dataset) undo();
});

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (event.key in CHOICE_BY_KEY) vote(CHOICE_BY_KEY[event.key]);
  else if (event.key === "u" || event.key === "U") undo();
});
