//! docs/design.md and the stylesheet name the same tokens, with the same colours and contrasts.

#![cfg(test)]

use std::collections::BTreeMap;

const DESIGN: &str = include_str!("../../../docs/design.md");
const TOKENS: &str = include_str!("../assets/css/tokens.css");

/// Light and dark value of each colour token.
type Colours = BTreeMap<String, [String; 2]>;

/// The colours of a line such as `--page: light-dark(#fff, #000);`.
fn colours() -> Colours {
    let declarations = TOKENS.split("--").filter_map(|text| text.split_once(": light-dark("));
    let pairs = declarations.filter_map(|(name, rest)| Some((name, rest.split_once(')')?.0.split_once(", ")?)));
    pairs
        .map(|(name, (light, dark))| (name.to_owned(), [long(light), long(dark)]))
        .collect()
}

/// The long form of a colour such as `#fff`.
fn long(colour: &str) -> String {
    match colour.strip_prefix('#') {
        Some(digits) if digits.len() == 3 => format!("#{}", digits.chars().flat_map(|c| [c, c]).collect::<String>()),
        _ => colour.to_owned(),
    }
}

/// The cells of the rows below the table head that starts with `head`.
fn table(head: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = DESIGN.split_once(head).expect("the table is in docs/design.md");
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The texts between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour in hex")) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.0722f64.mul_add(channel(5), 0.2126f64.mul_add(channel(1), 0.7152 * channel(3)))
}

/// The contrast of WCAG 2.
fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

#[test]
fn the_colours_in_the_table_of_tokens_are_those_of_the_stylesheet() {
    let mut documented = Colours::new();
    for row in table("| token | for |") {
        let values = quoted(row[2]).zip(quoted(row[3]));
        let pairs = quoted(row[0]).zip(values);
        documented.extend(pairs.map(|(name, (light, dark))| {
            (
                name.trim_start_matches("--").to_owned(),
                [light.to_owned(), dark.to_owned()],
            )
        }));
    }
    let mut shipped = colours();
    shipped.retain(|name, [light, _]| light.len() == 7 && name != "on-accent");
    assert_eq!(documented, shipped);
}

/// Checks one cell, such as `6.0, –`, against the colour of its row on each ground.
fn check_cell(name: &str, cell: &str, grounds: &[String], theme: usize) {
    let colours = colours();
    let needed = if name == "edge" { 3.0 } else { 4.5 };
    let figures: Vec<&str> = cell.split(", ").collect();
    assert_eq!(figures.len(), grounds.len(), "{name}: {cell}");
    for (figure, ground) in figures.iter().zip(grounds) {
        if *figure == "–" {
            continue;
        }
        let actual = contrast(&colours[name][theme], &colours[ground][theme]);
        assert_eq!(*figure, format!("{actual:.1}"), "{name} on {ground} in theme {theme}");
        assert!(actual >= needed, "{name} on {ground} has only {actual:.2}");
    }
}

fn check_contrasts(head: &str, grounds: impl Fn(&str) -> Vec<String>) {
    for row in table(head) {
        let name = row[0].split(' ').next().unwrap_or_default();
        for theme in [0, 1] {
            check_cell(name, row[theme + 1], &grounds(name), theme);
        }
    }
}

#[test]
fn every_text_and_edge_has_the_documented_contrast_and_enough_of_it() {
    check_contrasts("| text | light", |name| {
        let soft = format!("{name}-soft");
        ["page", "surface", "sunk", &soft].map(str::to_owned).to_vec()
    });
}

#[test]
fn code_and_diffs_have_the_documented_contrast_and_enough_of_it() {
    check_contrasts("| code | light", |_| {
        ["sunk", "surface", "add", "add-word", "del", "del-word"]
            .map(str::to_owned)
            .to_vec()
    });
}

/// Each stylesheet with its name.
fn stylesheets() -> Vec<(String, String)> {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/css")).expect("the styles");
    let paths = files.map(|file| file.expect("a file").path());
    paths
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(&path).expect("a stylesheet"),
            )
        })
        .collect()
}

#[test]
fn no_style_asks_the_system_for_its_theme_so_that_a_chosen_theme_holds_everywhere() {
    for (path, style) in stylesheets() {
        assert!(!style.contains("prefers-color-scheme"), "{path}");
    }
}

#[test]
fn sizes_of_text_and_radii_come_from_the_scales() {
    for (path, style) in stylesheets() {
        let declarations = style.split(['{', '}', ';']).map(str::trim);
        let scaled = ["font-size: ", "font: ", "border-radius: "];
        for declaration in declarations.filter(|text| scaled.iter().any(|name| text.starts_with(name))) {
            let (_, value) = declaration.split_once(": ").unwrap_or_default();
            let is_free = matches!(value, "inherit" | "0");
            assert!(is_free || value.contains("var(--"), "{path}: {declaration}");
        }
    }
}
