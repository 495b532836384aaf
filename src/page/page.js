"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Dark or light: the system's choice until the button is used; kept where the browser lets a file keep things.
  const kept = () => { try { return localStorage.getItem("adoprof-theme"); } catch { return null; } };
  const show = (theme) => { if (theme === "dark" || theme === "light") root.dataset.theme = theme; };
  show(kept());
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    show(dark ? "light" : "dark");
    try { localStorage.setItem("adoprof-theme", root.dataset.theme); } catch { /* a file may keep nothing */ }
  });

  // The table of metrics: rows that have every word of the search.
  const filter = document.getElementById("filter");
  if (filter) {
    const rows = all(".metrics tbody tr").map((row) => [row, row.textContent.toLowerCase()]);
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const [row, text] of rows) {
        row.hidden = !words.every((word) => text.includes(word));
        found += row.hidden ? 0 : 1;
      }
      document.getElementById("found").value = `${found} of ${rows.length} metrics`;
    });
  }

  // A line and its instructions.
  for (const code of all(".code")) {
    const rows = all(".sass tbody tr", code);
    const mark = (line) => {
      for (const row of rows) row.classList.toggle("hit", line !== undefined && row.dataset.l === line);
      for (const row of all(".lines tr[id]", code)) row.classList.toggle("hit", line !== undefined && row.dataset.line === line);
    };
    code.addEventListener("mouseover", (event) => {
      const row = event.target.closest("tr");
      if (row) mark(row.dataset.line ?? row.dataset.l);
    });
    code.addEventListener("click", (event) => {
      const button = event.target.closest(".lines button");
      if (!button) return;
      const line = button.closest("tr").dataset.line;
      mark(line);
      const first = rows.find((row) => row.dataset.l === line);
      const box = code.querySelector(".sass");
      if (first && box) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - 60;
    });
  }

  // What a link leads to must not be folded away.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target || null; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView({ block: "nearest" });
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
