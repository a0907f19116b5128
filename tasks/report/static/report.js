// What pages do beyond plain HTML: the search box, times in the reader's words, a fitting language.
// Texts come from documents that nobody vouches for, so they only ever become textContent.
"use strict";

const MOST_RESULTS = 20;
const MOST_SHARDS = 6; // loaded for one word
const WORDS = /\p{Script=Han}|[^\s\p{Script=Han}\p{P}]+/gu;
const QUESTION_WORDS = new Set(
  "a an and are by did do does for from had has have how in is of on or the to was were what when where which who whom whose why".split(" "),
);
const BOOST = { thing: 2, note: 1.2, document: 1.2, fact: 1 };

const almanac = {
  beginnings: [], // of the words in each index file; one empty beginning: there is one file
  waiting: new Map(), // loading files, by number
  index: null,

  shards(beginnings) {
    almanac.beginnings = beginnings;
  },
  entries(number, rows) {
    almanac.index.addAll(
      rows
        .map(([kind, label, detail, further, address], place) => (
          { id: kind + address + label, kind, label, detail, further, address, place }
        ))
        .filter((entry) => !almanac.index.has(entry.id)),
    );
  },
};
globalThis.almanac = almanac;

function load(address) {
  if (!almanac.waiting.has(address)) {
    const loaded = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    almanac.waiting.set(address, loaded);
  }
  return almanac.waiting.get(address);
}

// What is asked for: the words without those that every question has, unless there are no others.
function telling(words) {
  const rest = words.filter((word) => !QUESTION_WORDS.has(word));
  return rest.length > 0 ? rest : words;
}

function tokens(text) {
  return text.toLowerCase().match(WORDS) ?? [];
}

function shardsFor(word) {
  const numbers = [];
  almanac.beginnings.forEach((beginning, number) => {
    if (word.startsWith(beginning) || beginning.startsWith(word)) numbers.push(number);
  });
  return numbers.slice(0, MOST_SHARDS);
}

async function search(folder, query) {
  almanac.index ??= new MiniSearch({
    fields: ["label", "further", "detail"],
    storeFields: ["kind", "label", "detail", "address", "place"],
    tokenize: tokens,
    searchOptions: {
      boost: { label: 3, further: 2 },
      boostDocument: (id, term, stored) => BOOST[stored.kind] * (1 + 1 / (2 + stored.place)),
      prefix: (term, place, all) => place === all.length - 1 && term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  await load(`${folder}shards.js`);
  const words = telling(tokens(query));
  const numbers = new Set(words.flatMap(shardsFor));
  await Promise.all([...numbers].map((number) => load(`${folder}${number}.js`)));
  const every = almanac.index.search(words.join(" "), { combineWith: "AND" });
  return every.length > 0 ? every : almanac.index.search(words.join(" "));
}

function shown(result) {
  const item = document.createElement("li");
  const badge = document.createElement("span");
  badge.className = "badge";
  badge.textContent = result.kind;
  const link = document.createElement("a");
  link.href = result.address;
  link.textContent = result.label;
  const detail = document.createElement("p");
  detail.className = result.kind === "note" ? "" : "quiet";
  detail.textContent = result.detail;
  item.append(badge, link, detail);
  return item;
}

function openSearch() {
  const form = document.getElementById("search");
  if (!form) return;
  const box = document.getElementById("query");
  const list = document.getElementById("results");
  const found = document.getElementById("found");
  let latest = 0;

  async function ask() {
    const turn = ++latest;
    const query = box.value.trim();
    const results = query ? await search(box.dataset.index, query) : [];
    if (turn !== latest) return; // the reader typed on
    list.replaceChildren(...results.slice(0, MOST_RESULTS).map(shown));
    if (!query) found.textContent = "";
    else if (results.length === 0) found.textContent = "Nothing found.";
    else if (results.length > MOST_RESULTS) found.textContent = `The best ${MOST_RESULTS} of ${results.length}.`;
    else found.textContent = `${results.length} found.`;
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  box.addEventListener("input", ask);
  for (const suggestion of document.querySelectorAll(".suggestion")) {
    suggestion.addEventListener("click", (event) => {
      event.preventDefault();
      box.value = suggestion.textContent;
      box.focus();
      ask();
    });
  }
}

function tellTimes() {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    const hours = (Date.parse(time.dateTime) - Date.now()) / 3_600_000;
    if (Number.isNaN(hours)) continue;
    time.title = time.textContent;
    time.textContent = Math.abs(hours) < 24
      ? words.format(Math.round(hours), "hour")
      : words.format(Math.round(hours / 24), "day");
  }
}

// A description in the reader's language comes first.
function preferLanguage() {
  for (const group of document.querySelectorAll(".descriptions")) {
    const fitting = navigator.languages
      .map((language) => group.querySelector(`:scope > [lang|="${CSS.escape(language.split("-")[0])}"]`))
      .find(Boolean);
    if (fitting) group.prepend(fitting);
  }
}

// A file holds several entities; its title is that of the one shown.
function nameShown() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const heading = target?.closest(".entity")?.querySelector("h1");
  if (heading) document.title = heading.textContent;
}

openSearch();
tellTimes();
preferLanguage();
nameShown();
addEventListener("hashchange", nameShown);
