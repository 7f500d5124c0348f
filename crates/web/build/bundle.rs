//! Bundles the modules into one script and keeps their semantics: each has its own scope, runs once, after those that it
//! imports, and functions can be used across a cycle of imports.
//!
//! A module becomes a generator. Its first step exports the functions, which a body has from its start. The second,
//! after all first steps, takes the imports, runs the body and exports constants and classes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The part of a module in the bundle.
struct Module {
    imports: Vec<Import>,
    functions: Vec<String>,
    /// Constants and classes: they exist after the module has run.
    values: Vec<String>,
    body: String,
}

struct Import {
    from: String,
    names: ImportNames,
}

enum ImportNames {
    All(String),
    /// Name and local name.
    Some(Vec<(String, String)>),
}

/// Bundles `entry` and all that it imports. The modules of `apart` are imported from their own files.
pub fn bundle(
    entry: &str,
    apart: &[&str],
    mut read: impl FnMut(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut modules = Modules::default();
    modules.add(entry, apart, &mut read)?;
    modules.check()?;
    Ok(modules.write())
}

#[derive(Default)]
struct Modules {
    found: BTreeSet<String>,
    apart: BTreeSet<String>,
    by_name: BTreeMap<String, Module>,
    /// The order in which they run.
    order: Vec<String>,
}

impl Modules {
    fn add(
        &mut self,
        name: &str,
        apart: &[&str],
        read: &mut impl FnMut(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        if apart.contains(&name) {
            self.apart.insert(name.to_owned());
            return Ok(());
        }
        if !self.found.insert(name.to_owned()) {
            return Ok(());
        }
        let module = Module::parse(&read(name)?).map_err(|error| format!("{name}.js: {error}"))?;
        for import in &module.imports {
            self.add(&import.from, apart, read)?;
        }
        self.by_name.insert(name.to_owned(), module);
        self.order.push(name.to_owned());
        Ok(())
    }

    /// Every import by name exists. A constant or class is imported by name only from a module that runs before: it is
    /// taken once, at the start of the importing module.
    fn check(&self) -> Result<(), String> {
        let mut done = BTreeSet::new();
        for name in &self.order {
            for import in &self.by_name[name].imports {
                let (Some(module), ImportNames::Some(names)) = (self.by_name.get(&import.from), &import.names) else {
                    continue;
                };
                let has_run = done.contains(&import.from);
                for (imported, _) in names {
                    let is_value = has_run && module.values.contains(imported);
                    if !is_value && !module.functions.contains(imported) {
                        let from = &import.from;
                        return Err(format!(
                            "{name}.js: {from}.js exports no function {imported}; a constant or a class must come from a module that runs earlier"
                        ));
                    }
                }
            }
            done.insert(name);
        }
        Ok(())
    }

    fn write(&self) -> String {
        let mut text = String::new();
        for name in &self.apart {
            let _ = writeln!(text, "import * as ${name} from \"./{name}.js\";");
        }
        let spaces: Vec<_> = self.order.iter().map(|name| format!("${name} = {{}}")).collect();
        let _ = writeln!(text, "const {};\nconst modules = [", spaces.join(", "));
        for name in &self.order {
            self.by_name[name].write(name, &mut text);
        }
        text.push_str(
            "];\nfor (const module of modules) module.next();\nfor (const module of modules) module.next();\n",
        );
        text
    }
}

impl Module {
    /// Reads a module without comments and indentation.
    fn parse(source: &str) -> Result<Self, String> {
        let mut module = Self {
            imports: Vec::new(),
            functions: Vec::new(),
            values: Vec::new(),
            body: String::new(),
        };
        for line in source.lines() {
            if line.starts_with("import ") {
                let import = Import::parse(line).ok_or_else(|| format!("unknown form of import: {line}"))?;
                module.imports.push(import);
                continue;
            }
            let code = line.strip_prefix("export ");
            if let Some(code) = code {
                let (kind, name) = exported(code).ok_or_else(|| format!("unknown form of export: {line}"))?;
                match kind {
                    "const" | "class" => module.values.push(name),
                    _ => module.functions.push(name),
                }
            }
            module.body.push_str(code.unwrap_or(line));
            module.body.push('\n');
        }
        Ok(module)
    }

    fn write(&self, name: &str, text: &mut String) {
        text.push_str("function* () {\n");
        export(name, &self.functions, text);
        text.push_str("yield;\n");
        for Import { from, names } in &self.imports {
            let _ = match names {
                ImportNames::All(local) => writeln!(text, "const {local} = ${from};"),
                ImportNames::Some(names) => {
                    let names: Vec<_> = names.iter().map(|(name, local)| property(name, local)).collect();
                    writeln!(text, "const {{ {} }} = ${from};", names.join(", "))
                }
            };
        }
        text.push_str(&self.body);
        export(name, &self.values, text);
        text.push_str("}(),\n");
    }
}

fn property(name: &str, local: &str) -> String {
    if name == local {
        name.to_owned()
    } else {
        format!("{name}: {local}")
    }
}

fn export(module: &str, names: &[String], text: &mut String) {
    if !names.is_empty() {
        let _ = writeln!(text, "Object.assign(${module}, {{ {} }});", names.join(", "));
    }
}

/// The kind and the name of what a line declares.
fn exported(code: &str) -> Option<(&str, String)> {
    let code = code.strip_prefix("async ").unwrap_or(code);
    let (kind, rest) = code.split_once(' ')?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    (matches!(kind, "function" | "const" | "class") && end > 0).then(|| (kind, rest[..end].to_owned()))
}

impl Import {
    /// Reads `import * as name from "./file.js";` or `import { one, two as other } from "./file.js";`.
    fn parse(line: &str) -> Option<Self> {
        let (names, from) = line.strip_prefix("import ")?.split_once(" from ")?;
        let from = from.strip_prefix("\"./")?.strip_suffix(".js\";")?.to_owned();
        let names = match names.strip_prefix("* as ") {
            Some(local) => ImportNames::All(local.to_owned()),
            None => {
                let list = names.strip_prefix("{ ")?.strip_suffix(" }")?.split(", ");
                let pair = |name: &str| {
                    let (name, local) = name.split_once(" as ").unwrap_or((name, name));
                    (name.to_owned(), local.to_owned())
                };
                ImportNames::Some(list.map(pair).collect())
            }
        };
        Some(Self { from, names })
    }
}
