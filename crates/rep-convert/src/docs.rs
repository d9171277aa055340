//! Documentation for people, generated from the structure: UASP §7.2, and the sections it leaves out.
//!
//! The specification's headings come in the specification's order; the rest stands between them. The same skill gives
//! the same bytes. Whatever a value holds, it cannot end the fence, cell or line it is put into. `extract/layout.rs`
//! reads the page back: what would be read otherwise than it was meant is written out at length.

use std::fmt::Write as _;

use rep_model::Document;
use rep_model::uasp::{
    Argument, Command, Constraints, Decision, EnvironmentVariable, Meta, Preference, ReferenceEntry, SourceEntry,
    SpannedText, StateEntity, Template, Triggers, Variant, Workflow,
};
use serde_json::{Map, Value, json};

use crate::extract::{layout, names};

/// The longest name and description a SKILL.md may have.
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1024;

/// Writes a SKILL.md: the documentation below a frontmatter that every host takes.
pub fn skill_md(document: &Document) -> String {
    let meta = &document.sections.meta;
    let text = |field: Option<&SpannedText>| field.map(|text| line(text)).unwrap_or_default();
    let name: String = names::name(&text(meta.name.as_ref()), "skill").chars().take(NAME_MAX).collect();
    let description: String = match text(meta.description.as_ref()) {
        empty if empty.is_empty() => about(&document.sections.triggers, &name),
        own => own,
    };
    let front = json!({
        "name": name,
        "description": description.chars().take(DESCRIPTION_MAX).collect::<String>(),
        "metadata": { layout::MARK: text(meta.kind.as_ref()), "uasp-version": text(meta.version.as_ref()) },
    });
    format!("---\n{}---\n\n{}", rep_model::yaml::write(&front), markdown(document))
}

/// What a skill without a description is about, in words of its own.
fn about(triggers: &Triggers, name: &str) -> String {
    let words = |texts: &[SpannedText]| texts.iter().map(|text| line(text)).take(10).collect::<Vec<_>>();
    match (words(&triggers.intents), words(&triggers.keywords)) {
        (intents, _) if !intents.is_empty() => format!("Use for: {}.", intents.join("; ")),
        (_, keywords) if !keywords.is_empty() => format!("Use for {}.", keywords.join(", ")),
        _ => format!("The skill {name}."),
    }
}

/// Writes the documentation of a skill.
pub fn markdown(document: &Document) -> String {
    let sections = &document.sections;
    let mut page = Page::default();
    page.head(&sections.meta);
    page.triggers(&sections.triggers);
    page.guidelines(&sections.constraints);
    page.decisions(&sections.decisions);
    page.state(&sections.state.entities);
    if !sections.commands.is_empty() {
        page.block("## Commands");
        sections.commands.iter().for_each(|command| page.command(command));
    }
    page.flags("## Global flags", &sections.global_flags);
    page.workflows(&sections.workflows);
    page.reference(&sections.reference);
    page.templates(&sections.templates);
    page.environment(&sections.environment);
    page.sources(&sections.sources);
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

    fn head(&mut self, meta: &Meta) {
        self.block(&format!("# {}", line(meta.name.as_deref().unwrap_or_default())));
        self.prose(meta.description.as_ref());
        let kind = meta.kind.as_ref().map(|kind| format!("A {} skill", code(kind)));
        let version = meta.version.as_ref().map(|version| format!("version {}", code(version)));
        let parts: Vec<String> = kind.into_iter().chain(version).collect();
        if !parts.is_empty() {
            let mut words = format!("{}.", parts.join(", "));
            if words.starts_with('v') {
                words.replace_range(..1, "V");
            }
            self.block(&format!("*{words}*"));
        }
        self.block(&extras(&meta.extra));
    }

    /// A text in paragraphs of its own, if it says something.
    fn prose(&mut self, text: Option<&SpannedText>) {
        if let Some(text) = filled(text) {
            self.block(&prose(text));
        }
    }

    fn triggers(&mut self, triggers: &Triggers) {
        let mut list = String::new();
        list.push_str(&listed("Keywords", &triggers.keywords));
        list.push_str(&several("Intents", &triggers.intents, "; "));
        list.push_str(&listed("Files", &triggers.file_patterns));
        if !list.is_empty() {
            self.block("## When to use");
            self.block(&list);
        }
    }

    fn guidelines(&mut self, constraints: &Constraints) {
        let Constraints { never, always, prefer } = constraints;
        if never.is_empty() && always.is_empty() && prefer.is_empty() {
            return;
        }
        self.block("## Guidelines");
        self.items("### Never", never);
        self.items("### Always", always);
        if !prefer.is_empty() {
            self.block("### Prefer");
            self.block(&prefer.iter().map(preference).collect::<String>());
        }
    }

    /// A list below a title, if there is one.
    fn items(&mut self, title: &str, texts: &[SpannedText]) {
        if !texts.is_empty() {
            self.block(title);
            self.block(&texts.iter().map(item).collect::<String>());
        }
    }

    fn decisions(&mut self, decisions: &[Decision]) {
        if decisions.is_empty() {
            return;
        }
        self.block("## Decisions");
        let row = |one: &Decision| vec![cell(one.when.as_ref()), cell(one.then.as_ref()), coded(one.source.as_ref())];
        self.table(&["When", "Then", "See"], &decisions.iter().map(row).collect::<Vec<_>>());
    }

    fn state(&mut self, entities: &[StateEntity]) {
        if entities.is_empty() {
            return;
        }
        self.block("## State");
        for entity in entities {
            self.block(&format!("### {}", code_or_blank(entity.name.as_ref())));
            let mut list = String::new();
            if let Some(format) = filled(entity.format.as_ref()) {
                let _ = writeln!(list, "- Format: {}", line(format));
            }
            for (title, texts) in [
                ("Created by", &entity.created_by),
                ("Used by", &entity.consumed_by),
                ("Invalidated by", &entity.invalidated_by),
                ("Saved by", &entity.persisted_by),
                ("Restored by", &entity.restored_by),
                ("Holds", &entity.properties),
            ] {
                list.push_str(&several(title, texts, ", "));
            }
            list.push_str(&extras(&entity.extra));
            self.block(&list);
        }
    }

    fn command(&mut self, command: &Command) {
        self.block(&format!("### {}", code_text(&command.path)));
        self.block(&fence("", command.syntax.as_deref().unwrap_or_default()));
        self.prose(command.description.as_ref());
        self.arguments(&command.arguments);
        self.flags("", &command.flags);
        let mut list = String::new();
        if let Some(purpose) = filled(command.purpose.as_ref()) {
            let _ = writeln!(list, "- Purpose: {}", line(purpose));
        }
        let aliases: Vec<String> = command.aliases.iter().map(|alias| coded(Some(alias))).collect();
        if !aliases.is_empty() {
            let _ = writeln!(list, "- Also called: {}", aliases.join(", "));
        }
        if let Some(returns) = filled(command.returns.as_ref()) {
            let _ = writeln!(list, "- Returns: {}", line(returns));
        }
        let effects =
            [("Needs", &command.requires), ("Creates", &command.creates), ("Invalidates", &command.invalidates)];
        for (title, names) in effects.into_iter().filter(|(_, names)| !names.is_empty()) {
            let names: Vec<String> = names.iter().map(|name| code_text(name)).collect();
            let _ = writeln!(list, "- {title}: {}", names.join(", "));
        }
        list.push_str(&extras(&command.extra));
        self.block(&list);
        if let Some(note) = filled(command.note.as_ref()) {
            self.block(&format!("> {}", prose(note).replace('\n', "\n> ")));
        }
        self.variants(&command.variants);
        if let Some(example) = filled(command.example.as_ref()) {
            self.block(&fence("bash", example));
        }
    }

    fn variants(&mut self, variants: &[Variant]) {
        let row = |one: &Variant| vec![coded(one.syntax.as_ref()), cell(one.purpose.as_ref())];
        self.table(&["Variant", "Purpose"], &variants.iter().map(row).collect::<Vec<_>>());
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        let row = |one: &Argument| {
            let needed = if one.is_required == Some(true) { "yes".to_owned() } else { String::new() };
            let default = coded_value(one.default.as_ref());
            vec![coded(one.name.as_ref()), kind(one), needed, default, cell(one.description.as_ref())]
        };
        let titles = ["Argument", "Type", "Required", "Default", "Meaning"];
        self.table(&titles, &arguments.iter().map(row).collect::<Vec<_>>());
    }

    fn flags(&mut self, title: &str, flags: &[Argument]) {
        if flags.is_empty() {
            return;
        }
        self.block(title);
        let row = |one: &Argument| {
            let names: Vec<String> = [&one.name, &one.short, &one.long].into_iter().flatten().map(code).collect();
            vec![
                names.join(", "),
                kind(one),
                coded_value(one.default.as_ref()),
                coded(one.env.as_ref()),
                cell(one.purpose.as_ref().or(one.description.as_ref())),
            ]
        };
        self.table(&["Flag", "Type", "Default", "Variable", "Purpose"], &flags.iter().map(row).collect::<Vec<_>>());
    }

    fn workflows(&mut self, workflows: &[Workflow]) {
        if workflows.is_empty() {
            return;
        }
        self.block("## Workflows");
        for workflow in workflows {
            let words = title(&workflow.name.replace('_', " "));
            let is_reversible = layout::workflow_key(&words) == *workflow.name;
            self.block(&format!("### {}", if is_reversible { words } else { code_text(&workflow.name) }));
            self.prose(workflow.description.as_ref());
            self.items("Throughout:", &workflow.invariants);
            let mut list = String::new();
            for (number, step) in (1..).zip(&workflow.steps) {
                let note = filled(step.note.as_ref()).map(|note| format!(": {}", line(note))).unwrap_or_default();
                let mark = if step.is_optional { " (optional)" } else { "" };
                let _ = writeln!(list, "{number}. {}{mark}{note}", code_or_blank(step.command.as_ref()));
            }
            self.block(&list);
            if let Some(example) = filled(workflow.example.as_ref()) {
                self.block(&fence("bash", example));
            }
            self.block(&extras(&workflow.extra));
        }
    }

    fn reference(&mut self, reference: &[ReferenceEntry]) {
        if reference.is_empty() {
            return;
        }
        self.block("## Reference");
        for entry in reference {
            self.block(&format!("### {}", code_text(&entry.name)));
            if let Some(whole) = &entry.whole {
                self.block(&prose(&scalar(whole)));
                continue;
            }
            self.prose(entry.notes.as_ref());
            for (text, title) in [(&entry.syntax, "Syntax:"), (&entry.example, "Example:")] {
                if let Some(text) = filled(text.as_ref()) {
                    self.block(title);
                    self.block(&fence("", text));
                }
            }
            if !entry.values.is_empty() {
                self.block(&format!("Values: {}", codes(&entry.values)));
            }
            self.features(&entry.features);
        }
    }

    /// What a reference entry has beyond the schema's keys: its own features, short ones in a table.
    fn features(&mut self, features: &Map<String, Value>) {
        let (short, long): (Vec<_>, Vec<_>) = features.iter().partition(|(_, value)| !scalar(value).contains('\n'));
        let form = |value: &Value| match value {
            Value::Array(items) => codes(items),
            other => coded_value(Some(other)),
        };
        let rows: Vec<Vec<String>> = short.into_iter().map(|(key, value)| vec![cell_text(key), form(value)]).collect();
        self.table(&["Feature", "Form"], &rows);
        for (key, value) in long {
            self.block(&format!("{}:", line(key)));
            self.block(&fence("", &scalar(value)));
        }
    }

    fn templates(&mut self, templates: &[Template]) {
        if templates.is_empty() {
            return;
        }
        self.block("## Templates");
        for template in templates {
            self.block(&format!("### {}", code_text(&template.name)));
            self.prose(template.description.as_ref());
            let mut list = String::new();
            for (text, title) in [(&template.usage, "Usage"), (&template.path, "File")] {
                if let Some(text) = filled(text.as_ref()) {
                    let _ = writeln!(list, "- {title}: {}", code(text));
                }
            }
            list.push_str(&extras(&template.extra));
            self.block(&list);
            self.arguments(&template.arguments);
            if let Some(inline) = filled(template.inline.as_ref()) {
                self.block(&fence("bash", inline));
            }
        }
    }

    fn environment(&mut self, environment: &[EnvironmentVariable]) {
        if environment.is_empty() {
            return;
        }
        self.block("## Environment");
        let row = |one: &EnvironmentVariable| {
            vec![coded(one.name.as_ref()), cell(one.purpose.as_ref()), coded_value(one.default.as_ref())]
        };
        self.table(&["Variable", "Purpose", "Default"], &environment.iter().map(row).collect::<Vec<_>>());
    }

    fn sources(&mut self, sources: &[SourceEntry]) {
        if sources.is_empty() {
            return;
        }
        self.block("## Sources");
        let one = |source: &SourceEntry| {
            let place = filled(source.url.as_ref()).or_else(|| filled(source.path.as_ref()));
            let place = place.map(|place| format!(": {}", address(&line(place)))).unwrap_or_default();
            let about = filled(source.use_for.as_ref()).map(|about| format!(" ({})", line(about))).unwrap_or_default();
            format!("- {}{place}{about}\n", code_or_blank(source.id.as_ref()))
        };
        self.block(&sources.iter().map(one).collect::<String>());
    }

    /// Sections the specification does not know.
    fn others(&mut self, document: &Document) {
        for (name, value) in document.unknown_sections() {
            self.block(&format!("## {}", line(name)));
            self.block(&fence("json", &format!("{value:#}")));
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

/// A preference on one line, if it is read back from there as it is; else field by field.
fn preference(one: &Preference) -> String {
    if let Some(sentence) = &one.sentence {
        return item(sentence);
    }
    let fields = [("use", &one.preferred), ("over", &one.over), ("when", &one.when)];
    let whole: Map<String, Value> =
        fields.iter().filter_map(|(key, text)| Some(((*key).to_owned(), Value::from(text.as_deref()?)))).collect();
    let text = |text: &Option<SpannedText>| text.as_deref().map(line).unwrap_or_default();
    let when = one.when.as_ref().map(|when| format!(" when {}", line(when))).unwrap_or_default();
    let words = format!("{} over {}{when}", text(&one.preferred), text(&one.over));
    if layout::preference(&words) == Value::Object(whole) {
        return format!("- {words}\n");
    }
    let written = fields.into_iter().filter(|(_, text)| text.is_some());
    let lines = written.map(|(key, own)| format!("  - {}: {}\n", title(key), text(own)));
    format!("- Preference:\n{}", lines.collect::<String>())
}

/// The type of an argument or a flag, with the values it takes.
fn kind(one: &Argument) -> String {
    let name = cell(one.kind.as_ref());
    if one.values.is_empty() { name } else { format!("{name}: {}", codes(&one.values)) }
}

/// Several texts as code on one line.
fn listed(title: &str, texts: &[SpannedText]) -> String {
    let codes: Vec<String> = texts.iter().map(code).collect();
    if codes.is_empty() { String::new() } else { format!("- {title}: {}\n", codes.join(", ")) }
}

/// Several texts on one line, or below each other where one holds what stands between them.
fn several(title: &str, texts: &[SpannedText], between: &str) -> String {
    let words: Vec<String> = texts.iter().map(|text| line(text)).collect();
    if words.is_empty() {
        return String::new();
    }
    if words.iter().any(|word| word.contains(between.trim_end()) || word.is_empty()) {
        let lines = words.iter().map(|word| format!("  - {word}\n"));
        return format!("- {title}:\n{}", lines.collect::<String>());
    }
    format!("- {title}: {}\n", words.join(between))
}

/// A text that says something.
fn filled(text: Option<&SpannedText>) -> Option<&SpannedText> {
    text.filter(|text| !text.trim().is_empty())
}

/// Whether a value says something: it is not null, not empty.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
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
fn prose(text: &str) -> String {
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

/// Text on one line.
fn line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn item(text: &SpannedText) -> String {
    format!("- {}\n", line(text))
}

fn cell(text: Option<&SpannedText>) -> String {
    text.map(|text| cell_text(text)).unwrap_or_default()
}

fn cell_text(text: &str) -> String {
    line(text).replace('|', "\\|")
}

fn coded(text: Option<&SpannedText>) -> String {
    text.map(|text| code(text).replace('|', "\\|")).unwrap_or_default()
}

fn coded_value(value: Option<&Value>) -> String {
    value.filter(|value| !value.is_null()).map(|value| code_value(value).replace('|', "\\|")).unwrap_or_default()
}

/// A text as code. One that looks like another value, or has several lines, is quoted.
fn code(text: &SpannedText) -> String {
    let is_ambiguous = || text.trim().contains('\n') || serde_json::from_str::<Value>(text).is_ok();
    if text.is_text && is_ambiguous() { code_text(&Value::from(&**text).to_string()) } else { code_text(text) }
}

fn code_or_blank(text: Option<&SpannedText>) -> String {
    text.map_or_else(|| code_text(""), code)
}

fn code_value(value: &Value) -> String {
    match value {
        Value::String(text) => code(&SpannedText::new(text)),
        other => code_text(&scalar(other)),
    }
}

/// Text as code on one line, in as many marks as it needs.
fn code_text(text: &str) -> String {
    let text = line(text);
    if text.is_empty() {
        return "` `".to_owned();
    }
    let marks = "`".repeat(longest_run(&text, '`') + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{gap}{text}{gap}{marks}")
}

fn codes(values: &[Value]) -> String {
    values.iter().map(|value| code_value(value).replace('|', "\\|")).collect::<Vec<_>>().join(", ")
}

/// A block of code that ends on its own line, with a fence no line of it can close.
fn fence(language: &str, text: &str) -> String {
    let marks = "`".repeat((longest_run(text, '`') + 1).max(3));
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
fn extras(extra: &Map<String, Value>) -> String {
    let own = extra.iter().filter(|(_, value)| is_filled(value));
    let words = |value: &Value| match value {
        Value::String(text) if !text.starts_with('`') => line(text),
        other => code_text(&other.to_string()),
    };
    own.map(|(key, value)| format!("- {}: {}\n", line(key), words(value))).collect()
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
    line(&out)
}
