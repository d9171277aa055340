//! Documentation for people, generated from the structure: UASP §7.2, and the sections it leaves out.
//!
//! The specification's headings come in the specification's order; the rest stands between them. The same skill gives
//! the same bytes. Whatever a value holds, it cannot end the fence, cell or line it is put into. `extract/layout.rs`
//! reads the page back: what would be read otherwise than it was meant is written out at length.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::extract::{layout, names};

/// The longest name and description a SKILL.md may have.
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1024;

/// Writes a SKILL.md: the documentation below a frontmatter that every host takes.
pub fn skill_md(document: &Value) -> String {
    let meta = document.get("meta").unwrap_or(&Value::Null);
    let text = |key: &str| meta.get(key).map(line).unwrap_or_default();
    let name: String = names::name(&text("name"), "skill").chars().take(NAME_MAX).collect();
    let description: String = match text("description") {
        empty if empty.is_empty() => about(document, &name),
        own => own,
    };
    let front = json!({
        "name": name,
        "description": description.chars().take(DESCRIPTION_MAX).collect::<String>(),
        "metadata": { layout::MARK: text("type"), "uasp-version": text("version") },
    });
    format!("---\n{}---\n\n{}", rep_model::yaml::write(&front), markdown(document))
}

/// What a skill without a description is about, in words of its own.
fn about(document: &Value, name: &str) -> String {
    let words = |key: &str| match document.get("triggers").and_then(|triggers| triggers.get(key)) {
        Some(Value::Array(items)) => items.iter().map(line).take(10).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    match (words("intents"), words("keywords")) {
        (intents, _) if !intents.is_empty() => format!("Use for: {}.", intents.join("; ")),
        (_, keywords) if !keywords.is_empty() => format!("Use for {}.", keywords.join(", ")),
        _ => format!("The skill {name}."),
    }
}

/// Writes the documentation of a skill.
pub fn markdown(document: &Value) -> String {
    let mut page = Page::default();
    page.head(document);
    page.triggers(document.get("triggers"));
    page.guidelines(document.get("constraints"));
    page.decisions(document.get("decisions"));
    page.state(document.get("state"));
    page.commands(document.get("commands"));
    page.flags("## Global flags", document.get("global_flags"));
    page.workflows(document.get("workflows"));
    page.reference(document.get("reference"));
    page.templates(document.get("templates"));
    page.environment(document.get("environment"));
    page.sources(document.get("sources"));
    page.others(document);
    page.text
}

/// Markdown as it grows: blocks with an empty line between them.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn block(&mut self, block: &str) {
        let block = block.trim_end();
        if block.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.text.push('\n');
    }

    fn head(&mut self, document: &Value) {
        let meta = document.get("meta").unwrap_or(&Value::Null);
        self.block(&format!("# {}", line(meta.get("name").unwrap_or(&Value::Null))));
        if let Some(description) = meta.get("description") {
            self.block(&prose(description));
        }
        let kind = meta.get("type").map(|kind| format!("A {} skill", code(kind)));
        let version = meta.get("version").map(|version| format!("version {}", code(version)));
        let parts: Vec<String> = kind.into_iter().chain(version).collect();
        if !parts.is_empty() {
            let mut words = format!("{}.", parts.join(", "));
            if words.starts_with('v') {
                words.replace_range(..1, "V");
            }
            self.block(&format!("*{words}*"));
        }
        self.block(&extras(meta, &["name", "description", "type", "version"]));
    }

    fn triggers(&mut self, triggers: Option<&Value>) {
        let Some(triggers) = filled(triggers) else { return };
        let mut list = String::new();
        for (key, title) in [("keywords", "Keywords"), ("intents", "Intents"), ("file_patterns", "Files")] {
            let words: Vec<String> = match triggers.get(key) {
                Some(Value::Array(items)) if key == "intents" => items.iter().map(line).collect(),
                Some(Value::Array(items)) => items.iter().map(code).collect(),
                _ => continue,
            };
            if key == "intents" {
                list.push_str(&several(title, &words, "; "));
            } else if !words.is_empty() {
                let _ = writeln!(list, "- {title}: {}", words.join(", "));
            }
        }
        if !list.is_empty() {
            self.block("## When to use");
            self.block(&list);
        }
    }

    fn guidelines(&mut self, constraints: Option<&Value>) {
        let Some(constraints) = filled(constraints) else { return };
        self.block("## Guidelines");
        for (key, title) in [("never", "### Never"), ("always", "### Always")] {
            let Some(Value::Array(items)) = filled(constraints.get(key)) else { continue };
            self.block(title);
            self.block(&items.iter().map(item).collect::<String>());
        }
        if let Some(Value::Array(items)) = filled(constraints.get("prefer")) {
            self.block("### Prefer");
            let one = |preference: &Value| match preference {
                Value::Object(map) => {
                    let field = |key: &str| map.get(key).map(line).unwrap_or_default();
                    let when = map.get("when").map(|when| format!(" when {}", line(when))).unwrap_or_default();
                    let words = format!("{} over {}{when}", field("use"), field("over"));
                    if layout::preference(&words) == *preference {
                        return format!("- {words}\n");
                    }
                    let fields = ["use", "over", "when"].iter().filter(|key| map.contains_key(**key));
                    let fields = fields.map(|key| format!("  - {}: {}\n", title(key), field(key)));
                    format!("- Preference:\n{}", fields.collect::<String>())
                }
                other => item(other),
            };
            self.block(&items.iter().map(one).collect::<String>());
        }
    }

    fn decisions(&mut self, decisions: Option<&Value>) {
        let Some(Value::Array(items)) = filled(decisions) else { return };
        self.block("## Decisions");
        let rows: Vec<Vec<String>> = items
            .iter()
            .map(|decision| vec![cell(decision.get("when")), cell(decision.get("then")), coded(decision.get("ref"))])
            .collect();
        self.table(&["When", "Then", "See"], &rows);
    }

    fn state(&mut self, state: Option<&Value>) {
        let Some(Value::Array(entities)) = filled(state.and_then(|state| state.get("entities"))) else { return };
        self.block("## State");
        for entity in entities {
            let name = entity.get("name").unwrap_or(entity);
            self.block(&format!("### {}", code(name)));
            let mut list = String::new();
            for (key, title) in [
                ("format", "Format"),
                ("created_by", "Created by"),
                ("consumed_by", "Used by"),
                ("invalidated_by", "Invalidated by"),
                ("persisted_by", "Saved by"),
                ("restored_by", "Restored by"),
                ("properties", "Holds"),
            ] {
                match filled(entity.get(key)) {
                    Some(Value::Array(items)) => {
                        list.push_str(&several(title, &items.iter().map(line).collect::<Vec<_>>(), ", "));
                    }
                    Some(value) => list.push_str(&format!("- {title}: {}\n", line(value))),
                    None => {}
                }
            }
            let known = [
                "name",
                "format",
                "created_by",
                "consumed_by",
                "invalidated_by",
                "persisted_by",
                "restored_by",
                "properties",
            ];
            list.push_str(&extras(entity, &known));
            self.block(&list);
        }
    }

    fn commands(&mut self, commands: Option<&Value>) {
        let Some(Value::Object(commands)) = filled(commands) else { return };
        self.block("## Commands");
        for (name, command) in commands {
            self.block(&format!("### {}", code_text(name)));
            self.block(&fence("", command.get("syntax").unwrap_or(&Value::Null)));
            if let Some(text) = filled(command.get("description")) {
                self.block(&prose(text));
            }
            self.arguments(command.get("args"));
            self.flags("", command.get("flags"));
            let mut list = String::new();
            for (key, title) in [("purpose", "Purpose"), ("aliases", "Also called"), ("returns", "Returns")] {
                if let Some(value) = filled(command.get(key)) {
                    let _ =
                        writeln!(list, "- {title}: {}", if key == "aliases" { codes(value) } else { listed(value) });
                }
            }
            for (key, title) in [("requires", "Needs"), ("creates", "Creates"), ("invalidates", "Invalidates")] {
                let names: Vec<String> = texts(command, key).map(code_text).collect();
                if !names.is_empty() {
                    let _ = writeln!(list, "- {title}: {}", names.join(", "));
                }
            }
            let known = [
                "syntax",
                "description",
                "purpose",
                "args",
                "flags",
                "aliases",
                "returns",
                "requires",
                "creates",
                "invalidates",
                "note",
                "variants",
                "example",
            ];
            list.push_str(&extras(command, &known));
            self.block(&list);
            if let Some(note) = filled(command.get("note")) {
                self.block(&format!("> {}", prose(note).replace('\n', "\n> ")));
            }
            self.variants(command.get("variants"));
            if let Some(example) = filled(command.get("example")) {
                self.block(&fence("bash", example));
            }
        }
    }

    fn variants(&mut self, variants: Option<&Value>) {
        let Some(Value::Array(items)) = filled(variants) else { return };
        let rows: Vec<Vec<String>> =
            items.iter().map(|one| vec![coded(one.get("syntax")), cell(one.get("purpose"))]).collect();
        self.table(&["Variant", "Purpose"], &rows);
    }

    fn arguments(&mut self, arguments: Option<&Value>) {
        let Some(Value::Array(items)) = filled(arguments) else { return };
        let row = |one: &Value| {
            let kind = kind(one);
            let is_required = one.get("required").and_then(Value::as_bool) == Some(true);
            let needed = if is_required { "yes".to_owned() } else { String::new() };
            vec![coded(one.get("name")), kind, needed, coded(one.get("default")), cell(one.get("description"))]
        };
        self.table(&["Argument", "Type", "Required", "Default", "Meaning"], &items.iter().map(row).collect::<Vec<_>>());
    }

    fn flags(&mut self, title: &str, flags: Option<&Value>) {
        let Some(Value::Array(items)) = filled(flags) else { return };
        self.block(title);
        let row = |one: &Value| {
            let names: Vec<String> =
                ["name", "short", "long"].iter().filter_map(|key| one.get(key)).map(code).collect();
            vec![
                names.join(", "),
                kind(one),
                coded(one.get("default")),
                coded(one.get("env")),
                cell(one.get("purpose").or_else(|| one.get("description"))),
            ]
        };
        self.table(&["Flag", "Type", "Default", "Variable", "Purpose"], &items.iter().map(row).collect::<Vec<_>>());
    }

    fn workflows(&mut self, workflows: Option<&Value>) {
        let Some(Value::Object(workflows)) = filled(workflows) else { return };
        self.block("## Workflows");
        for (name, workflow) in workflows {
            let words = title(&name.replace('_', " "));
            let is_reversible = layout::workflow_key(&words) == *name;
            self.block(&format!("### {}", if is_reversible { words } else { code_text(name) }));
            if let Some(description) = filled(workflow.get("description")) {
                self.block(&prose(description));
            }
            if let Some(Value::Array(items)) = filled(workflow.get("invariants")) {
                self.block("Throughout:");
                self.block(&items.iter().map(item).collect::<String>());
            }
            if let Some(Value::Array(steps)) = filled(workflow.get("steps")) {
                let mut list = String::new();
                for (number, step) in steps.iter().enumerate() {
                    let optional = step.get("optional").and_then(Value::as_bool) == Some(true);
                    let note = filled(step.get("note")).map(|note| format!(": {}", line(note))).unwrap_or_default();
                    let mark = if optional { " (optional)" } else { "" };
                    let _ = writeln!(list, "{}. {}{mark}{note}", number + 1, code(step.get("cmd").unwrap_or(step)));
                }
                self.block(&list);
            }
            if let Some(example) = filled(workflow.get("example")) {
                self.block(&fence("bash", example));
            }
            self.block(&extras(workflow, &["description", "invariants", "steps", "example"]));
        }
    }

    fn reference(&mut self, reference: Option<&Value>) {
        let Some(Value::Object(reference)) = filled(reference) else { return };
        self.block("## Reference");
        for (name, entry) in reference {
            self.block(&format!("### {}", code_text(name)));
            let Value::Object(entry) = entry else {
                self.block(&prose(entry));
                continue;
            };
            if let Some(notes) = filled(entry.get("notes")) {
                self.block(&prose(notes));
            }
            for (key, title) in [("syntax", "Syntax:"), ("example", "Example:")] {
                if let Some(text) = filled(entry.get(key)) {
                    self.block(title);
                    self.block(&fence("", text));
                }
            }
            if let Some(values) = filled(entry.get("values")) {
                self.block(&format!("Values: {}", codes(values)));
            }
            self.features(entry);
        }
    }

    /// What a reference entry has beyond the schema's keys: its own features, short ones in a table.
    fn features(&mut self, entry: &Map<String, Value>) {
        let own = entry.iter().filter(|(key, _)| !["notes", "syntax", "example", "values"].contains(&key.as_str()));
        let (short, long): (Vec<_>, Vec<_>) = own.partition(|(_, value)| !scalar(value).contains('\n'));
        let rows: Vec<Vec<String>> = short
            .into_iter()
            .map(|(key, value)| vec![cell_text(key), if value.is_array() { codes(value) } else { coded(Some(value)) }])
            .collect();
        self.table(&["Feature", "Form"], &rows);
        for (key, value) in long {
            self.block(&format!("{}:", line_text(key)));
            self.block(&fence("", value));
        }
    }

    fn templates(&mut self, templates: Option<&Value>) {
        let Some(Value::Object(templates)) = filled(templates) else { return };
        self.block("## Templates");
        for (name, template) in templates {
            self.block(&format!("### {}", code_text(name)));
            if let Some(description) = filled(template.get("description")) {
                self.block(&prose(description));
            }
            let mut list = String::new();
            for (key, title) in [("usage", "Usage"), ("path", "File")] {
                if let Some(value) = filled(template.get(key)) {
                    let _ = writeln!(list, "- {title}: {}", code(value));
                }
            }
            list.push_str(&extras(template, &["description", "usage", "path", "args", "inline"]));
            self.block(&list);
            self.arguments(template.get("args"));
            if let Some(inline) = filled(template.get("inline")) {
                self.block(&fence("bash", inline));
            }
        }
    }

    fn environment(&mut self, environment: Option<&Value>) {
        let Some(Value::Array(items)) = filled(environment) else { return };
        self.block("## Environment");
        let row = |one: &Value| {
            let default = one.get("default").filter(|value| !value.is_null());
            vec![coded(one.get("name")), cell(one.get("purpose")), coded(default)]
        };
        self.table(&["Variable", "Purpose", "Default"], &items.iter().map(row).collect::<Vec<_>>());
    }

    fn sources(&mut self, sources: Option<&Value>) {
        let Some(Value::Array(items)) = filled(sources) else { return };
        self.block("## Sources");
        let one = |source: &Value| {
            let place = ["url", "path"].iter().find_map(|key| filled(source.get(key)));
            let place = place.map(|place| format!(": {}", address(&line(place)))).unwrap_or_default();
            let about = filled(source.get("use_for")).map(|about| format!(" ({})", line(about))).unwrap_or_default();
            format!("- {}{place}{about}\n", code(source.get("id").unwrap_or(source)))
        };
        self.block(&items.iter().map(one).collect::<String>());
    }

    /// Sections the specification does not know.
    fn others(&mut self, document: &Value) {
        let own = document.as_object().into_iter().flatten();
        for (name, value) in own.filter(|(name, _)| !rep_model::uasp::SECTIONS.contains(&name.as_str())) {
            self.block(&format!("## {}", line_text(name)));
            self.block(&fence("json", &Value::String(format!("{value:#}"))));
        }
    }

    /// A table without the columns that nobody fills.
    fn table(&mut self, titles: &[&str], rows: &[Vec<String>]) {
        let used: Vec<usize> = (0..titles.len()).filter(|at| rows.iter().any(|row| !row[*at].is_empty())).collect();
        if used.is_empty() {
            return;
        }
        let row = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut table = row(used.iter().map(|at| titles[*at]).collect());
        table.push_str(&format!("|{}\n", "---|".repeat(used.len())));
        for cells in rows {
            table.push_str(&row(used.iter().map(|at| cells[*at].as_str()).collect()));
        }
        self.block(&table);
    }
}

/// The type of an argument or a flag, with the values it takes.
fn kind(one: &Value) -> String {
    match filled(one.get("values")) {
        Some(values) => format!("{}: {}", cell(one.get("type")), codes(values)),
        None => cell(one.get("type")),
    }
}

/// Several texts on one line, or below each other where one holds what stands between them.
fn several(title: &str, words: &[String], between: &str) -> String {
    if words.is_empty() {
        return String::new();
    }
    if words.iter().any(|word| word.contains(between.trim_end()) || word.is_empty()) {
        let lines = words.iter().map(|word| format!("  - {word}\n"));
        return format!("- {title}:\n{}", lines.collect::<String>());
    }
    format!("- {title}: {}\n", words.join(between))
}

/// A value that says something: not null, not empty.
fn filled(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    })
}

/// A value as text: scalars as they are, the rest as JSON.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Text on its own lines, where a line of it cannot become a heading of the page.
fn prose(value: &Value) -> String {
    let text = scalar(value);
    let lines = text
        .trim()
        .lines()
        .map(|line| if is_block(line) { format!("\\{}", line.trim()) } else { line.trim_end().to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line would be more than a line of its paragraph.
fn is_block(line: &str) -> bool {
    let line = line.trim_start();
    let bare = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_item = |rest: &str| rest.starts_with(' ') || rest.is_empty();
    let is_bullet = line.strip_prefix(['-', '*', '+']).is_some_and(is_item);
    let is_number = bare.len() < line.len() && bare.strip_prefix(['.', ')']).is_some_and(is_item);
    let is_marked = line.starts_with(['#', '>', '|', '\\']) || line.starts_with("```") || line.starts_with("~~~");
    is_bullet || is_number || is_marked || is_rule(line)
}

/// Whether a line under a text would make a heading of it, or draw a line.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && ['=', '-', '*', '_'].iter().any(|mark| line.chars().all(|letter| letter == *mark))
}

fn line(value: &Value) -> String {
    line_text(&scalar(value))
}

/// Text on one line.
fn line_text(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn item(value: &Value) -> String {
    format!("- {}\n", line(value))
}

fn cell(value: Option<&Value>) -> String {
    value.map(|value| cell_text(&scalar(value))).unwrap_or_default()
}

fn cell_text(text: &str) -> String {
    line_text(text).replace('|', "\\|")
}

fn coded(value: Option<&Value>) -> String {
    value.filter(|value| !value.is_null()).map(|value| code(value).replace('|', "\\|")).unwrap_or_default()
}

/// A value as code. A text that looks like another value, or has several lines, is quoted.
fn code(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim().contains('\n') || serde_json::from_str::<Value>(text).is_ok() => {
            code_text(&value.to_string())
        }
        other => code_text(&scalar(other)),
    }
}

/// Text as code on one line, in as many marks as it needs.
fn code_text(text: &str) -> String {
    let text = line_text(text);
    if text.is_empty() {
        return "` `".to_owned();
    }
    let marks = "`".repeat(longest_run(&text, '`') + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{gap}{text}{gap}{marks}")
}

fn codes(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(|item| code(item).replace('|', "\\|")).collect::<Vec<_>>().join(", "),
        other => code(other),
    }
}

fn listed(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(line).collect::<Vec<_>>().join(", "),
        other => line(other),
    }
}

/// A block of code that ends on its own line, with a fence no line of it can close.
fn fence(language: &str, value: &Value) -> String {
    let text = scalar(value);
    let marks = "`".repeat((longest_run(&text, '`') + 1).max(3));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{marks}{language}\n{text}{end}{marks}")
}

fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// An address as a link, where it is one and cannot break out of the brackets.
fn address(text: &str) -> String {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    if is_web && !text.contains(['<', '>', ' ']) { format!("<{text}>") } else { code_text(text) }
}

/// Keys beyond the schema, so that nothing the author wrote is lost.
fn extras(value: &Value, known: &[&str]) -> String {
    let own = value.as_object().into_iter().flatten();
    let own = own.filter(|(key, value)| !known.contains(&key.as_str()) && filled(Some(value)).is_some());
    let words = |value: &Value| match value {
        Value::String(text) if !text.starts_with('`') => line_text(text),
        other => code_text(&other.to_string()),
    };
    own.map(|(key, value)| format!("- {}: {}\n", line_text(key), words(value))).collect()
}

/// Every run of letters with a capital, as the specification's example does it.
fn title(text: &str) -> String {
    let mut is_inside = false;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_inside {
            out.extend(letter.to_lowercase());
        } else {
            out.extend(letter.to_uppercase());
        }
        is_inside = letter.is_alphabetic();
    }
    line_text(&out)
}

/// The texts of a list, such as `requires`.
fn texts<'a>(command: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    command.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
