"use strict";
for (const t of document.querySelectorAll("table.sortable")) {
  const heads = t.tHead.rows[t.tHead.rows.length - 1].cells, body = t.tBodies[0];
  const key = c => { const s = c.textContent.split("→").pop().trim(), n = parseFloat(s.replace(/[,<>%]/g, "")); return isNaN(n) || !c.classList.contains("r") ? s : n; };
  [...heads].forEach((h, i) => {
    if (!h.textContent) return;
    const b = document.createElement("button"); b.type = "button"; b.append(...h.childNodes); h.append(b);
    b.onclick = () => {
      const up = h.getAttribute("aria-sort") !== "ascending";
      for (const o of heads) o.removeAttribute("aria-sort");
      h.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map(r => [key(r.cells[i]), r]);
      rows.sort(([x], [y]) => (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y))) * (up ? 1 : -1));
      body.append(...rows.map(r => r[1]));
    };
  });
}
// A filter has one field for each kind of heading that says what rows can be selected by. All fields must match.
let lists = 0;
for (const f of document.querySelectorAll(".filter")) {
  const table = f.nextElementSibling.querySelector("table"), rows = [...table.tBodies[0].rows], columns = new Map(), out = document.createElement("output");
  [...table.tHead.rows[0].cells].forEach((h, i) => { const k = h.dataset.filter; if (k) columns.set(k, [...(columns.get(k) || []), i]); });
  const fields = [...columns].map(([kind, at]) => {
    const text = rows.map(r => at.map(i => r.cells[i].textContent.toLowerCase()));
    const label = document.createElement("label"), box = document.createElement("input"), known = document.createElement("datalist");
    const values = new Set(rows.flatMap(r => at.map(i => (r.cells[i].querySelector("code") || r.cells[i]).textContent)));
    if (kind.startsWith("Namespace")) for (const v of [...values]) { values.delete(v); values.add(v.split("/")[0] + "/"); }
    if (values.size <= 500) known.append(...[...values].sort().map(v => new Option(v)));
    box.type = "search"; known.id = "values" + ++lists; box.setAttribute("list", known.id);
    label.append(kind, " ", box, known); f.append(label, " ");
    return { box, text };
  });
  out.setAttribute("role", "status"); f.append(out); f.hidden = false;
  const show = () => {
    const asked = fields.map(x => x.box.value.trim().toLowerCase()); let n = 0;
    rows.forEach((r, i) => { const on = fields.every((x, k) => x.text[i].some(t => t.includes(asked[k]))); r.hidden = !on; n += on; });
    out.value = n.toLocaleString("en") + " of " + rows.length.toLocaleString("en");
  };
  f.oninput = show; show();
}
addEventListener("click", ev => { const n = ev.target.closest(".cut"); if (n) n.classList.toggle("full"); });
addEventListener("mouseover", ev => { const n = ev.target.closest && ev.target.closest(".cut"); if (n) n.title = n.textContent; });
const fit = () => { for (const s of document.querySelectorAll(".scroll")) s.scrollWidth > s.clientWidth ? s.tabIndex = 0 : s.removeAttribute("tabindex"); };
addEventListener("resize", fit); addEventListener("toggle", fit, true); fit();
