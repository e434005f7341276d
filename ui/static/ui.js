"use strict";
// Keeps a page up to date: asks the server every two seconds whether something has changed, and then reads the page
// again. What the server drew replaces what is shown, in place. Rows do not move under a pointer or focus.
(() => {
  const body = document.body, base = body.dataset.base, every = 2000, quiet = 10000;
  const $ = id => document.getElementById(id);
  const say = $("say"), lost = $("lost"), clock = $("clock");
  let version = body.dataset.version, said = say.dataset.say, waits = said, saidAt = 0, busy = false;

  // Decisions are possible only while the API server answers.
  const setLive = (live, since) => {
    lost.hidden = live;
    if (!live) $("since").textContent = since;
    for (const b of document.querySelectorAll("main form[method=post] button, #steps button")) {
      if (!live) b.disabled = true;
      else if (b.closest("#steps")) count(); else if (!b.form.dataset.sent) b.disabled = false;
    }
  };

  const keys = el => [...el.querySelectorAll("[data-key]")].map(x => x.dataset.key).join("\n");
  const inUse = el => el.contains(document.activeElement) && document.activeElement !== body || el.matches(":hover");

  // Makes a node equal to another one, and keeps the nodes that are equal, so that focus and open details stay.
  const morph = (old, next) => {
    if (old.isEqualNode(next)) return;
    if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName || old.nodeType === 1 && old.dataset.key !== next.dataset.key) {
      old.replaceWith(next.cloneNode(true));
      return;
    }
    if (old.nodeType !== 1) { old.nodeValue = next.nodeValue; return; }
    for (const a of [...old.attributes]) if (!next.hasAttribute(a.name) && a.name !== "open" && a.name !== "disabled") old.removeAttribute(a.name);
    for (const a of [...next.attributes]) if (old.getAttribute(a.name) !== a.value && a.name !== "checked") old.setAttribute(a.name, a.value);
    const before = [...old.childNodes], after = [...next.childNodes];
    after.forEach((n, i) => before[i] ? morph(before[i], n) : old.append(n.cloneNode(true)));
    before.slice(after.length).forEach(n => n.remove());
  };

  const lineOf = el => document.querySelector(`.newer[data-of="${el.dataset.live}"]`);
  const show = (old, next) => { lineOf(old)?.remove(); morph(old, next); count(); };

  // Replaces one part of the page. If its rows would move while it is used, a line offers them instead.
  const swap = (old, next) => {
    if (old.isEqualNode(next)) return;
    const steps = old.id === "steps", chosen = steps && old.querySelector("input:checked");
    if (steps && old.querySelector("[name=version]")?.value === next.querySelector("[name=version]")?.value) return;
    if (!chosen && (keys(old) === keys(next) || !inUse(old))) { show(old, next); return; }
    const known = new Set(keys(old).split("\n")), fresh = keys(next).split("\n").filter(k => !known.has(k)).length;
    let line = lineOf(old);
    if (!line) {
      line = document.createElement("p");
      line.className = "newer note";
      line.dataset.of = old.dataset.live;
      old.before(line);
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn sm";
    button.textContent = steps || old.dataset.live === "undo" ? "The plan has changed. Show it, and choose again" : fresh ? fresh + " new, show" : "Changed, show";
    button.onclick = () => show(old, next);
    line.replaceChildren(button);
  };

  const speak = () => {
    if (waits !== said && Date.now() - saidAt >= quiet) { said = waits; saidAt = Date.now(); say.textContent = said; }
  };

  const read = async () => {
    const answer = await fetch(location.href.split("#")[0], {credentials: "same-origin", redirect: "error"});
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const names = new Set();
    for (const next of page.querySelectorAll("[data-live]")) {
      names.add(next.dataset.live);
      const old = document.querySelector(`[data-live="${next.dataset.live}"]`);
      if (old) swap(old, next); else if (next.parentElement?.id === "main") $("main").append(next.cloneNode(true));
    }
    document.title = page.title;
    waits = page.getElementById("say").dataset.say;
    version = page.body.dataset.version;
  };

  const ask = async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const answer = await fetch(base + "/version", {credentials: "same-origin"});
      if (!answer.ok) throw new Error(answer.status);
      const v = await answer.json();
      setLive(v.live, v.since);
      if (v.live) clock.textContent = "Live, " + v.now + " UTC";
      clock.hidden = !v.live;
      // The answer to a form is not read again: it is no page of its own.
      if (v.version !== version && !body.dataset.posted) await read();
    } catch {
      setLive(false, clock.textContent.match(/\d\d:\d\d:\d\d/)?.[0] ?? "now");
    } finally {
      busy = false;
      speak();
    }
  };

  // The buttons say how many steps are chosen. A group chooses all steps of a strategy.
  const count = () => {
    const form = $("steps");
    if (!form) return;
    const chosen = [...form.querySelectorAll("input[name=step]:checked")].reduce((n, x) => n + (x.closest("td").rowSpan || 1), 0);
    for (const b of form.querySelectorAll("button[data-verb]")) {
      b.textContent = `${b.dataset.verb} ${chosen || "the chosen"} step${chosen === 1 ? "" : "s"}…`;
      b.disabled = !lost.hidden || !chosen;
    }
    for (const row of form.querySelectorAll("tbody tr")) {
      const box = row.querySelector("input[name=step]");
      if (box) row.classList.toggle("off", !box.checked && chosen > 0);
    }
  };
  document.addEventListener("change", e => {
    const group = e.target.closest("#steps tbody");
    if (!group) return;
    const all = [...group.querySelectorAll("input[name=step]")], head = group.querySelector("input[name=strategy]");
    if (e.target === head) all.forEach(x => { x.checked = head.checked; });
    else if (head) head.checked = all.every(x => x.checked);
    if (head) head.indeterminate = !head.checked && all.some(x => x.checked);
    count();
  });
  // A form is sent once. The button works again if the person comes back.
  document.addEventListener("submit", e => { if (e.target.method === "post") { e.target.dataset.sent = "1"; setTimeout(() => e.target.querySelectorAll("button").forEach(b => { b.disabled = true; })); } });
  addEventListener("pageshow", e => { if (e.persisted) location.reload(); });
  document.addEventListener("keydown", e => { if (e.key === "Escape") $("cancel")?.click(); });

  count();
  $("confirm")?.focus();
  if (location.hash && !$("confirm")) $(location.hash.slice(1))?.focus();
  setInterval(ask, every);
  document.addEventListener("visibilitychange", ask);
  ask();
})();
