"use strict";
// Finds messages by their id, in the index that the page carries. Everything else needs no script.
(function () {
  const box = document.getElementById("find");
  const answer = document.getElementById("found");
  const index = JSON.parse(document.getElementById("messages").textContent);
  const MOST = 10;
  const words = { lost: "lost", excused: "excused", unknown: "nobody can say", rejected: "rejected", "in doubt": "in doubt" };

  const two = (n) => String(n).padStart(2, "0");
  function labTime(ms) {
    const s = Math.floor(ms / 1000);
    return Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(s % 60);
  }
  const labMoment = (ms) => labTime(ms) + "." + String(Math.floor(ms) % 1000).padStart(3, "0");
  const nameOf = (entry) => entry[0] + index.tails[entry[1]];

  // the run as shadowlab takes it: the folder that this page is in
  function run() {
    const parts = decodeURIComponent(location.pathname).split("/").slice(0, -1);
    return quoted(parts.join("/"));
  }

  // one word of a shell, whatever a sender wrote into it
  function quoted(word) {
    return "'" + word.replaceAll("'", "'\\''") + "'";
  }

  function element(name, text, parent) {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  }

  function show(entry) {
    const item = document.createElement("li");
    const name = nameOf(entry);
    element("code", name, item);
    item.append(", submitted " + labTime(entry[2]));
    const list = element("ul", "", item);
    for (let i = 3; i < entry.length; i += 2) {
      const fate = entry[i + 1];
      const said = typeof fate === "number"
        ? "delivered " + labTime(entry[2] + fate) + ", after " + labMoment(fate)
        : words[fate] || fate;
      const line = element("li", index.recipients[entry[i]] + ": " + said, list);
      if (fate === "lost") line.className = "alarm";
    }
    const how = element("p", "Its story: ", item);
    if (index.stories[name]) {
      const link = element("a", "on this page", how);
      link.href = "#" + index.stories[name];
      link.addEventListener("click", () => { document.getElementById(index.stories[name]).open = true; });
      how.append(", or ");
    }
    element("code", "shadowlab story " + run() + " " + quoted(name), how);
    return item;
  }

  function find() {
    const wanted = box.value.trim().toLowerCase();
    answer.replaceChildren();
    if (!wanted) return;
    const found = index.messages.filter((entry) => nameOf(entry).toLowerCase().includes(wanted));
    let said = found.length === 1 ? "1 message" : found.length + " messages";
    if (found.length > MOST) said += ", the first " + MOST + " of them:";
    if (!found.length && !index.whole) said = "not among the messages that this page holds; shadowlab story " + run() + " MESSAGE-ID reads all";
    element("p", said, answer);
    const list = element("ul", "", answer);
    for (const entry of found.slice(0, MOST)) list.append(show(entry));
  }

  function unfold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  }

  document.getElementById("finding").hidden = false;
  box.addEventListener("input", find);
  window.addEventListener("hashchange", unfold);
  unfold();
  find();
})();
