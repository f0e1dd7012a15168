"use strict";
// The page is complete without this script, which makes charts live, sorts tables, hides models and chooses columns.
(() => {
  const make = (tag, facts, ...children) => {
    const element = Object.assign(document.createElement(tag), facts);
    element.append(...children);
    return element;
  };
  const headings = table => [...table.tHead.rows[0].cells];
  const lines = table => [...table.tBodies[0].rows];
  const text = element => element.textContent.trim();
  const title = heading => text(heading).replace(/ \([\d,]+\)$/, ""); // without the number of questions
  const tables = [...document.querySelectorAll("main table")];
  const ofModels = tables.filter(table => title(headings(table)[0]) === "Model");

  // --- sorting: the other way round at the second click, the first order at the third ---

  const value = cell => {
    const number = cell.dataset.value ?? text(cell).replace("−", "-").replaceAll(",", "").match(/-?\d+(\.\d+)?/)?.[0];
    return number === undefined ? NaN : Number(number);
  };

  const sortable = table => {
    const first = lines(table);
    if (first.every((row, place) => text(row.cells[0]) === text(headings(table)[place + 1] ?? row))) return; // a matrix
    for (const [place, heading] of headings(table).entries()) {
      if (heading.matches(".bar") || first.length < 2) continue;
      const words = heading.matches(".text");
      const steps = ["none", ...(words ? ["ascending", "descending"] : ["descending", "ascending"])];
      const button = make("button", { type: "button" }, ...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const step = steps[(steps.indexOf(heading.getAttribute("aria-sort") ?? "none") + 1) % 3];
        for (const other of headings(table)) other.removeAttribute("aria-sort");
        if (step !== "none") heading.setAttribute("aria-sort", step);
        const sign = step === "ascending" ? 1 : -1;
        const known = row => words || !Number.isNaN(value(row.cells[place]));
        const compare = (one, other) => words
          ? text(one).localeCompare(text(other), undefined, { numeric: true })
          : value(one) - value(other);
        const sorted = first.filter(known).sort((a, b) => sign * compare(a.cells[place], b.cells[place]));
        const rest = first.filter(row => !known(row)); // what is not known comes last both ways
        table.tBodies[0].append(...(step === "none" ? first : [...sorted, ...rest]));
      });
    }
  };

  // --- hiding models ---

  const drawn = ofModels.filter(table => table.querySelector("td.bar"));
  const boards = drawn.length ? drawn : ofModels.slice(0, 1);
  const names = [...new Set(boards.flatMap(lines).map(row => text(row.cells[0])))];
  // A table or chart may show the last part of a name that another one shows in full.
  const same = (name, other) => name.endsWith(`/${other}`) || other.endsWith(`/${name}`);
  const full = name => names.includes(name) ? name : names.find(other => same(other, name));
  const hidden = new Set();
  const charts = [];

  const shownRows = rows => JSON.parse(JSON.stringify(rows)).filter(row =>
    ![row.model, row.row, row.column].some(name => name !== undefined && hidden.has(full(name))));

  const update = () => {
    for (const table of ofModels) {
      const places = headings(table).map(text).map(full).map((name, place) => [place, hidden.has(name)]);
      for (const row of lines(table)) row.hidden = hidden.has(full(text(row.cells[0])));
      for (const row of table.rows) for (const [place, hide] of places) row.cells[place].hidden = hide;
    }
    for (const { view, datasets } of charts) {
      for (const [name, rows] of Object.entries(datasets)) view.data(name, shownRows(rows));
      view.runAsync();
    }
  };

  const modelsControl = changed => {
    const summary = make("summary", {});
    const count = () => summary.replaceChildren(`Models: ${names.length - hidden.size} of ${names.length} shown`);
    const boxes = names.map(name => {
      const box = make("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        hidden[box.checked ? "delete" : "add"](name);
        count();
        update();
        changed();
      });
      return make("label", {}, box, ` ${name}`);
    });
    count();
    return make("details", {}, summary, ...boxes, make("p", {}, "Hiding a model changes no rank, mean or test."));
  };

  // --- choosing a column of means: its means and bars take the place of those over all questions ---

  const drawing = (tag, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, given] of Object.entries(attributes)) element.setAttribute(name, given);
    element.append(...children);
    return element;
  };

  const axisOf = values => {
    let [low, high] = [Math.min(...values), Math.max(...values)];
    const room = 0.06 * (high - low) || Math.abs(high) / 2 || 1;
    [low, high] = [low - room, high + room];
    const ten = 10 ** Math.floor(Math.log10(high - low));
    const step = [0.2, 0.5, 1, 2, 5].map(part => part * ten).find(size => (high - low) / size < 6);
    const ticks = [];
    for (let count = Math.ceil(low / step); count * step <= high; count++) ticks.push(+(count * step).toPrecision(6));
    return { ticks, across: number => `${((100 * (number - low)) / (high - low)).toFixed(2)}%` };
  };

  const bar = (cell, name, { ticks, across }) => {
    const drawn = make("td", { className: "bar" });
    if (Number.isNaN(value(cell))) return drawn;
    const { low, high } = cell.dataset;
    const picture = drawing("svg", { role: "img", "aria-label": `${name}: ${text(cell)}` });
    picture.append(...ticks.map(across).map(x => drawing("line", { class: "tick", x1: x, x2: x, y2: "100%" })));
    if (low !== undefined) {
      picture.append(drawing("line", { class: "range", x1: across(low), x2: across(high), y1: "50%", y2: "50%" }));
    }
    const mark = drawing("svg", { class: "mark", x: across(value(cell)), y: "50%" }, drawing("circle", { r: 4.5 }));
    picture.append(mark, drawing("title", {}, `${name}: ${text(cell)}`));
    drawn.append(picture);
    drawn.tabIndex = 0;
    drawn.dataset.text = text(cell);
    return drawn;
  };

  const tableOf = ({ source, place, label }, lowFirst) => {
    const rows = lines(source).map(row => [row.cells[0], row.cells[place]]);
    rows.sort((a, b) => (lowFirst ? 1 : -1) * (value(a[1]) - value(b[1])) || Number.isNaN(value(a[1])) - Number.isNaN(value(b[1])));
    const numbers = rows.flatMap(([, cell]) => [value(cell), cell.dataset.low, cell.dataset.high].map(Number));
    const axis = axisOf(numbers.filter(number => !Number.isNaN(number)));
    const percent = rows.some(([, cell]) => text(cell).includes("%"));
    const tickText = tick => (percent ? `${+(100 * tick).toPrecision(6)}%` : `${tick}`).replace("-", "−");
    const labels = axis.ticks.map(tick => drawing("text", { x: axis.across(tick), y: "90%" }, tickText(tick)));
    const heading = make("th", { className: "bar" }, drawing("svg", { "aria-hidden": true }, ...labels));
    const head = [make("th", { className: "text" }, "Model"), make("th", {}, label), heading];
    for (const cell of head) cell.scope = "col";
    const body = rows.map(([name, cell]) =>
      make("tr", {}, name.cloneNode(true), cell.cloneNode(true), bar(cell, text(name), axis)));
    return make("table", { className: "selection" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  };

  /** Where a table names the best models, the cells of the intent and the language that were chosen. */
  const highlight = (best, chosen) => {
    for (const cell of best.querySelectorAll("[aria-current]")) cell.removeAttribute("aria-current");
    const place = headings(best).findIndex((heading, number) => number && chosen.includes(title(heading)));
    const row = lines(best).find(line => chosen.includes(title(line.cells[0]))) ?? (place > 0 && lines(best)[0]);
    if (row) (place > 0 ? row.cells[place] : row).setAttribute("aria-current", "true");
  };

  const columnControl = (board, sources, bestTables, changed) => {
    const select = make("select", {}, make("option", { value: "" }, "All"));
    const choices = new Map();
    const partOf = source => text(source.closest("section").querySelector("h2, h3"));
    const parts = new Set(sources.map(partOf));
    for (const source of sources) {
      const part = partOf(source);
      const own = source.closest(".scroll").ariaLabel;
      const group = make("optgroup", { label: own === part ? part : `${part}: ${own}` });
      for (const [place, heading] of [...headings(source).entries()].slice(1)) {
        const count = text(heading).slice(title(heading).length);
        const label = own !== part && heading.dataset.key.includes("/") ? `${title(heading)}, ${own}${count}` : text(heading);
        choices.set(`${choices.size}`, { source, place, label, chosen: [title(heading), own] });
        group.append(make("option", { value: `${choices.size - 1}` }, label));
      }
      select.append(group);
    }
    select.addEventListener("change", () => {
      const choice = choices.get(select.value);
      for (const old of board.parentElement.querySelectorAll(".selection")) {
        ofModels.splice(ofModels.indexOf(old), 1);
        old.remove();
      }
      board.hidden = Boolean(choice);
      for (const best of bestTables) highlight(best, choice?.chosen ?? []);
      if (choice) {
        const table = tableOf(choice, "lowestFirst" in document.querySelector("main").dataset);
        board.after(table);
        sortable(table);
        ofModels.push(table);
      }
      update();
      changed();
    });
    return make("label", {}, parts.size > 1 ? "Intent and language " : `${[...parts][0]} `, select);
  };

  // --- what the page has ---

  for (const [number, board] of boards.entries()) {
    const [place, after] = [board, boards[number + 1]].map(table => tables.indexOf(table));
    const isSource = table => headings(table).length > 1 && headings(table).slice(1).every(heading => heading.dataset.key);
    const sources = tables.slice(place + 1, after < 0 ? undefined : after).filter(table => ofModels.includes(table) && isSource(table));
    const best = tables.slice(place + 1, after < 0 ? undefined : after).filter(table => title(headings(table)[0]) === "Questions of");
    const controls = make("div", { className: "controls" });
    const changed = () => controls.classList.toggle("changed", hidden.size > 0 || Boolean(controls.querySelector("select")?.value));
    if (drawn.length && sources.length) controls.append(columnControl(board, sources, best, changed));
    if (!number && names.length > 1) controls.append(modelsControl(changed));
    if (controls.children.length) board.closest(".scroll").before(controls);
  }
  tables.forEach(sortable);

  // --- a link to a folded part opens it ---

  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    const folded = target?.querySelector(":scope > details");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  const specifications = JSON.parse(document.getElementById("specifications")?.textContent ?? "{}");
  // The interpreter of expressions needs no `eval`, which the policy forbids.
  const options = { actions: false, ast: true, renderer: "svg" };
  for (const holder of document.querySelectorAll("[data-chart]")) {
    const live = make("div", {});
    const specification = specifications[holder.dataset.chart];
    const datasets = JSON.parse(JSON.stringify(specification.datasets));
    vegaEmbed(live, specification, options).then(({ view }) => {
      holder.replaceChildren(live);
      charts.push({ view, datasets });
    });
  }
})();
