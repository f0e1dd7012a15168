// Live charts in place of the static ones. The interpreter of expressions needs no `eval`, which the policy forbids.
const specifications = JSON.parse(document.getElementById("specifications").textContent);
const options = { actions: false, ast: true, renderer: "svg" };
for (const holder of document.querySelectorAll("[data-chart]")) {
  const live = document.createElement("div");
  vegaEmbed(live, specifications[holder.dataset.chart], options).then(() => holder.replaceChildren(live));
}
