// The words of the scripts in the language of the page. The English phrase is the key, as in `crates/web/languages`.
const { lang } = document.documentElement;
const { default: translations } = lang === "en" ? { default: {} } : await import(`./words-${lang}.js`);

/** Translates a phrase and puts values in its places, such as {name}. */
export function t(phrase, values = {}) {
  const text = translations[phrase] ?? phrase;
  return text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}
