// Short news for the person, read out by screen readers.
const SHOWN_MS = 12_000;
let hiding;

/** Says it; with a link when there is something to look at. */
export function tell(words, link) {
  const news = document.getElementById("news");
  if (!news) return;
  news.replaceChildren(words);
  if (link) {
    const a = document.createElement("a");
    a.href = link.href;
    a.textContent = link.text;
    news.append(a);
  }
  hideLater(news);
}

function hideLater(news) {
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    if (news.matches(":hover, :focus-within")) hideLater(news);
    else news.replaceChildren();
  }, SHOWN_MS);
}
