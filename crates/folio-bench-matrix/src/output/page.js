"use strict";
(() => {
  const root = document.documentElement;
  const body = document.querySelector("#matrix tbody");
  const rows = [...body.rows];
  const by = (id) => document.getElementById(id);

  // Filters.
  const filter = () => {
    const words = by("text").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const [device, workload] = [by("device").value, by("workload").value];
    const changed = by("changed")?.checked;
    let shown = 0;
    for (const row of rows) {
      const text = `${row.dataset.device} ${row.dataset.title}`.toLowerCase();
      const is = (!device || row.dataset.device === device) && (!workload || row.dataset.workload === workload)
        && (!changed || row.dataset.changed) && words.every((word) => text.includes(word));
      row.hidden = !is;
      shown += is;
    }
    by("count").textContent = `${shown} of ${rows.length} rows`;
    root.dataset.shown = shown;
  };
  by("filters").addEventListener("input", filter);
  by("filters").addEventListener("submit", (event) => event.preventDefault());

  // Sorting: once up, once down.
  const heads = [...document.querySelectorAll("#matrix thead th")];
  const sort = (head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = head.dataset.key;
    const value = (row) => ("number" in head.dataset ? Number(row.dataset[key]) : row.dataset[key]);
    const order = (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    body.append(...rows);
  };
  heads.forEach((head) => head.querySelector("button").addEventListener("click", () => sort(head)));

  // On a phone a row is a card, folded but for its ratio.
  body.addEventListener("click", (event) => event.target.closest("th")?.parentElement.classList.toggle("open"));

  // Themes: the system's, light, dark.
  const themes = ["auto", "light", "dark"];
  const show = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    by("theme").textContent = `theme: ${theme}`;
    by("theme").setAttribute("aria-label", `theme: ${theme}; click for the next`);
  };
  let theme = themes.includes(location.hash.slice(1)) ? location.hash.slice(1) : "auto";
  by("theme").addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    show(theme);
  });
  show(theme);
  filter();
  root.dataset.ready = "yes";
})();
