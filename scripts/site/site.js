// The menu of small screens, and the search: its index is a script, so that pages opened as files have it, too. It is loaded
// when the field is first used.
"use strict";
(() => {
  const root = document.currentScript.dataset.root;
  const field = document.getElementById("search"), found = document.getElementById("found");
  const menu = document.getElementById("menu"), side = document.getElementById("side");

  menu.addEventListener("click", () => {
    const open = side.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });
  side.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

  let loading = null;
  const load = () =>
    (loading ??= new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = root + "search.js";
      script.onload = resolve;
      document.head.append(script);
    }));

  // Of a section: words in its heading count more than words in its text.
  const score = ([page, title, heading, , text], words) => {
    let sum = 0;
    for (const word of words) {
      const inHeading = heading.toLowerCase().includes(word) ? 8 : 0;
      const inTitle = title.toLowerCase().includes(word) ? 4 : 0;
      const inText = text.toLowerCase().split(word).length - 1;
      if (inHeading + inTitle + inText === 0) return 0;
      sum += inHeading + inTitle + Math.min(inText, 5);
    }
    return page.endsWith(".toml.html") || page.startsWith("api/") ? sum / 2 : sum;
  };

  const around = (text, words) => {
    const at = Math.max(0, ...words.map((w) => text.toLowerCase().indexOf(w)));
    return (at > 60 ? "..." : "") + text.slice(Math.max(0, at - 60), at + 140);
  };

  const withMarks = (text, words) => {
    const span = document.createElement("span");
    const lower = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      const next = words.map((w) => [lower.indexOf(w, at), w.length]).filter(([i]) => i >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next[0], next[0] + next[1]);
      span.append(text.slice(at, next[0]), mark);
      at = next[0] + next[1];
    }
    span.append(text.slice(at));
    return span;
  };

  const show = async () => {
    await load();
    const words = field.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
    const hits = words.length === 0 ? [] : window.raddleSearch.map((s) => [score(s, words), s]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 20);
    found.replaceChildren(
      ...hits.map(([, [page, title, heading, anchor, text]]) => {
        const link = document.createElement("a");
        link.href = root + page + (anchor ? "#" + anchor : "");
        const name = document.createElement("b");
        name.append(withMarks(heading === title ? title : title + ": " + heading, words));
        const line = document.createElement("small");
        line.append(withMarks(around(text, words), words));
        link.append(name, line);
        return link;
      }),
    );
    if (words.length > 0 && hits.length === 0) found.textContent = "Nothing has all of these words.";
    found.hidden = words.length === 0;
  };

  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") found.querySelector("a")?.click();
    if (event.key === "ArrowDown") found.querySelector("a")?.focus();
    if (event.key === "Escape") found.hidden = true;
  });
  found.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (event.key === "ArrowDown") at.nextElementSibling?.focus();
    if (event.key === "ArrowUp") (at.previousElementSibling ?? field).focus();
    if (event.key === "Escape") field.focus(), (found.hidden = true);
    if (event.key.startsWith("Arrow")) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!found.contains(event.target) && event.target !== field) found.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement === document.body) event.preventDefault(), field.focus();
  });
  document.documentElement.dataset.ready = "true";
})();
