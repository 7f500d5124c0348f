// How many wait: in the navigation and in the title. Every page that is shown says it anew; news count up and down between.
let open = 0;
let notices = 0;

function number(text) {
  return Number.parseInt(text ?? "", 10) || 0;
}

function put(id, count) {
  const place = document.getElementById(id);
  if (!place) return;
  place.textContent = String(count);
  place.toggleAttribute("data-none", count === 0);
}

function write() {
  put("count", open);
  put("notices-count", notices);
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = open > 0 ? `(${open}) ${title}` : title;
}

export function fromPage(main = document.getElementById("main")) {
  if (!main || !document.body.dataset.person) return;
  open = number(main.dataset.open);
  notices = number(main.dataset.notices);
  write();
}

export function changeOpen(by) {
  open = Math.max(0, open + by);
  write();
}

export function changeNotices(by) {
  notices = Math.max(0, notices + by);
  write();
}
