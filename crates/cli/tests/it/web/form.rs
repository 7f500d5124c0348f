//! One form of a page: its controls, the filled-in values, and the submitted pairs.

use scraper::{ElementRef, Html};

use super::client::{Page, css};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlKind {
    /// Text and hidden fields: always submitted.
    Value,
    /// Boxes, radios and the options of a select: submitted when on.
    Choice {
        on: bool,
    },
    Button,
}

#[derive(Debug)]
struct Control {
    name: String,
    value: String,
    kind: ControlKind,
}

pub struct Form {
    pub action: Option<String>,
    pub is_post: bool,
    controls: Vec<Control>,
    filled: Vec<(String, String)>,
    page: String,
}

impl Form {
    /// Finds a form by a selector, or by a prefix of its action.
    #[track_caller]
    pub fn find(page: &Page, form: &str) -> Self {
        let parsed = page.parsed();
        let selector = if form.starts_with('/') {
            format!("form[action^='{form}']")
        } else {
            form.to_owned()
        };
        let found = parsed.select(&css(&selector)).next();
        let found = found.unwrap_or_else(|| panic!("no form {form} in {}: {}", page.url, page.html));
        Self {
            action: found
                .attr("action")
                .filter(|action| !action.is_empty())
                .map(str::to_owned),
            is_post: found
                .attr("method")
                .is_some_and(|method| method.eq_ignore_ascii_case("post")),
            controls: controls(&parsed, found),
            filled: Vec::new(),
            page: format!("{form} in {}", page.url),
        }
    }

    /// Fills in values; a field or choice that the form does not offer fails the test.
    #[track_caller]
    pub fn fill(mut self, filled: &[(&str, &str)]) -> Self {
        for &(name, value) in filled {
            let mut of_name = self.controls.iter().filter(|control| control.name == name).peekable();
            assert!(of_name.peek().is_some(), "no field {name} in {}", self.page);
            let is_choice = |control: &Control| matches!(control.kind, ControlKind::Choice { .. });
            let fits = of_name.any(|control| !is_choice(control) || control.value == value);
            assert!(fits || value.is_empty(), "{name} cannot be {value} in {}", self.page);
            if fits {
                self.filled.push((name.to_owned(), value.to_owned()));
            }
        }
        self.controls
            .retain(|control| !filled.iter().any(|(name, _)| control.name == *name));
        self
    }

    #[track_caller]
    pub fn press(mut self, pressed: Option<(&str, &str)>) -> Self {
        let Some((name, value)) = pressed else { return self };
        let is_there =
            |control: &Control| control.kind == ControlKind::Button && control.name == name && control.value == value;
        assert!(
            self.controls.iter().any(is_there),
            "no button {name}={value} in {}",
            self.page
        );
        self.filled.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn pairs(&self) -> Vec<(&str, &str)> {
        let kept = self.controls.iter().filter(|control| match control.kind {
            ControlKind::Value => true,
            ControlKind::Choice { on } => on,
            ControlKind::Button => false,
        });
        let kept = kept.map(|control| (control.name.as_str(), control.value.as_str()));
        kept.chain(self.filled.iter().map(|(name, value)| (name.as_str(), value.as_str())))
            .collect()
    }
}

/// The controls inside the form, and those outside with a `form` attribute that names it.
fn controls(parsed: &Html, form: ElementRef<'_>) -> Vec<Control> {
    let all = css("input, textarea, select, button");
    let belongs = |control: &ElementRef<'_>| match control.attr("form") {
        Some(id) => form.attr("id") == Some(id),
        None => control.ancestors().any(|ancestor| ancestor.id() == form.id()),
    };
    parsed.select(&all).filter(belongs).flat_map(read).collect()
}

fn read(element: ElementRef<'_>) -> Vec<Control> {
    let Some(name) = element.attr("name").filter(|_| element.attr("disabled").is_none()) else {
        return Vec::new();
    };
    let value = element.attr("value");
    let one = |value: String, kind| {
        vec![Control {
            name: name.to_owned(),
            value,
            kind,
        }]
    };
    match (element.value().name(), element.attr("type").unwrap_or_default()) {
        ("textarea", _) => one(element.text().collect(), ControlKind::Value),
        ("select", _) => options(element, name),
        ("input", "checkbox" | "radio") => one(
            value.unwrap_or("on").to_owned(),
            ControlKind::Choice {
                on: element.attr("checked").is_some(),
            },
        ),
        ("input", "submit") | ("button", "submit" | "") => {
            one(value.unwrap_or_default().to_owned(), ControlKind::Button)
        }
        ("button", _) | ("input", "button" | "reset" | "image" | "file") => Vec::new(),
        _ => one(value.unwrap_or_default().to_owned(), ControlKind::Value),
    }
}

/// In a single select the first option is on unless the page selects another one.
fn options(select: ElementRef<'_>, name: &str) -> Vec<Control> {
    let all = css("option");
    let has_selection = select.select(&css("option[selected]")).next().is_some();
    let first_is_on = select.attr("multiple").is_none() && !has_selection;
    let options = select.select(&all).enumerate().map(|(index, option)| {
        let value = option
            .attr("value")
            .map_or_else(|| option.text().collect(), str::to_owned);
        let on = option.attr("selected").is_some() || (first_is_on && index == 0);
        Control {
            name: name.to_owned(),
            value,
            kind: ControlKind::Choice { on },
        }
    });
    options.collect()
}
