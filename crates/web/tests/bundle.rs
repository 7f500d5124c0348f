//! The bundler joins the modules, and refuses source that it cannot keep as it is.

#![cfg(test)]

#[path = "../build/bundle.rs"]
mod bundle;
#[path = "../build/strip.rs"]
mod strip;

use bundle::bundle;
use strip::strip;

/// Bundles these modules, of which `main` is the first to be read.
fn bundled(modules: &[(&str, &str)]) -> Result<String, String> {
    bundle("main", &["words"], |name| {
        let found = modules.iter().find(|(known, _)| *known == name);
        let (_, source) = found.ok_or_else(|| format!("no module {name}"))?;
        Ok((*source).to_owned())
    })
}

#[test]
fn comments_and_indentation_are_removed_and_literals_stay() {
    let source =
        "// One.\n/** Two. */\n/*\n * Three: `\n */\nconst a = \"// b\"; // c\n\n  return /^\\/\\*/; /* d */\n";
    assert_eq!(
        strip(source),
        Ok("const a = \"// b\"; // c\nreturn /^\\/\\*/; /* d */\n".to_owned())
    );
}

#[test]
fn literal_of_several_lines_and_code_after_a_comment_are_refused() {
    for source in [
        "const a = `\n// b`;\n",
        "const a = \"b \\\n  c\";\n",
        "/* a */ b();\n",
        "/* a\n",
    ] {
        assert!(strip(source).is_err(), "{source}");
    }
}

#[test]
fn modules_run_after_those_that_they_import() {
    let text = bundled(&[
        (
            "main",
            "import * as b from \"./b.js\";\nimport { t } from \"./words.js\";\nb.start(t);\n",
        ),
        (
            "b",
            "import { c, D as E } from \"./c.js\";\nexport async function start(t) {\nnew E(c, t);\n}\n",
        ),
        ("c", "export function c() {}\nexport class D {}\n"),
    ]);
    let expected = "import * as $words from \"./words.js\";
const $c = {}, $b = {}, $main = {};
const modules = [
function* () {
Object.assign($c, { c });
yield;
function c() {}
class D {}
Object.assign($c, { D });
}(),
function* () {
Object.assign($b, { start });
yield;
const { c, D: E } = $c;
async function start(t) {
new E(c, t);
}
}(),
function* () {
yield;
const b = $b;
const { t } = $words;
b.start(t);
}(),
];
for (const module of modules) module.next();
for (const module of modules) module.next();
";
    assert_eq!(text, Ok(expected.to_owned()));
}

#[test]
fn cycle_of_functions_is_bundled_and_a_value_across_it_is_refused() {
    let cycle = |value: &str| {
        let b = format!("import {{ {value} }} from \"./main.js\";\nexport function b() {{}}\n");
        let main = "import { b } from \"./b.js\";\nexport function a() {}\nexport const VALUE = 1;\n";
        bundled(&[("main", main), ("b", &b)])
    };
    assert!(cycle("a").is_ok());
    assert!(cycle("VALUE").is_err());
    assert!(cycle("absent").is_err());
}

#[test]
fn unknown_forms_of_imports_and_exports_are_refused() {
    for line in [
        "import \"./b.js\";",
        "import b from \"./b.js\";",
        "import { b } from './b.js';",
        "export default 1;",
        "export { a };",
        "export let a = 1;",
    ] {
        assert!(bundled(&[("main", line), ("b", "")]).is_err(), "{line}");
    }
}
