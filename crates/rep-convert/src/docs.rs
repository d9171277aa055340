//! Generates documentation for people from the structure of a skill: UASP §7.2, and the sections that it leaves out.
//!
//! The headings appear in the order of the specification, with additional sections between them. The output is
//! deterministic. Values are escaped so that they cannot end the fence, cell or line that contains them. The page can
//! be read back: values that would be misread are written in a longer form.

mod page_blocks;
pub(crate) mod page_parser;

use std::fmt::Write as _;

use rep_model::SkillDocument;
use rep_model::uasp::{
    CommandVariant, EnvironmentVariable, ReferenceEntry, SourceEntry, SpannedText, StateEntity, UaspArgument,
    UaspCommand, UaspConstraints, UaspDecision, UaspMeta, UaspPreference, UaspTemplate, UaspTriggers, UaspWorkflow,
};
use serde_json::{Map, Value, json};

use crate::names;

/// The maximum length of the name and the description in a SKILL.md.
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// Writes a SKILL.md: the documentation below a frontmatter that every host accepts.
pub fn write_skill_md(document: &SkillDocument) -> String {
    let meta = &document.sections.meta;
    let text = |field: Option<&SpannedText>| field.map(|text| to_one_line(text)).unwrap_or_default();
    let name: String = names::to_name_or(&text(meta.name.as_ref()), "skill").chars().take(NAME_CHARS_MAX).collect();
    let description: String = match text(meta.description.as_ref()) {
        empty if empty.is_empty() => describe_from_triggers(&document.sections.triggers, &name),
        own => own,
    };
    let front = json!({
        "name": name,
        "description": description.chars().take(DESCRIPTION_CHARS_MAX).collect::<String>(),
        "metadata": { page_parser::TYPE_KEY: text(meta.kind.as_ref()), "uasp-version": text(meta.version.as_ref()) },
    });
    format!("---\n{}---\n\n{}", rep_model::yaml::render_document(&front), write_markdown(document))
}

/// Creates a description from the triggers, for a skill without one.
fn describe_from_triggers(triggers: &UaspTriggers, name: &str) -> String {
    let words = |texts: &[SpannedText]| texts.iter().map(|text| to_one_line(text)).take(10).collect::<Vec<_>>();
    match (words(&triggers.intents), words(&triggers.keywords)) {
        (intents, _) if !intents.is_empty() => format!("Use for: {}.", intents.join("; ")),
        (_, keywords) if !keywords.is_empty() => format!("Use for {}.", keywords.join(", ")),
        _ => format!("The skill {name}."),
    }
}

/// Writes the documentation of a skill.
pub fn write_markdown(document: &SkillDocument) -> String {
    let sections = &document.sections;
    let mut page = MarkdownPage::default();
    page.push_head(&sections.meta);
    page.push_triggers(&sections.triggers);
    page.push_guidelines(&sections.constraints);
    page.push_decisions(&sections.decisions);
    page.push_state(&sections.state.entities);
    if !sections.commands.is_empty() {
        page.push_block("## Commands");
        sections.commands.iter().for_each(|command| page.push_command(command));
    }
    page.push_flags("## Global flags", &sections.global_flags);
    page.push_workflows(&sections.workflows);
    page.push_reference(&sections.reference);
    page.push_templates(&sections.templates);
    page.push_environment(&sections.environment);
    page.push_sources(&sections.sources);
    page.push_unknown_sections(document);
    page.text
}

/// Markdown output: blocks separated by empty lines.
#[derive(Default)]
struct MarkdownPage {
    text: String,
}

impl MarkdownPage {
    fn push_block(&mut self, block: &str) {
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

    fn push_head(&mut self, meta: &UaspMeta) {
        self.push_block(&format!("# {}", to_one_line(meta.name.as_deref().unwrap_or_default())));
        self.push_prose(meta.description.as_ref());
        let kind = meta.kind.as_ref().map(|kind| format!("A {} skill", render_code(kind)));
        let version = meta.version.as_ref().map(|version| format!("version {}", render_code(version)));
        let parts: Vec<String> = kind.into_iter().chain(version).collect();
        if !parts.is_empty() {
            let mut words = format!("{}.", parts.join(", "));
            if words.starts_with('v') {
                words.replace_range(..1, "V");
            }
            self.push_block(&format!("*{words}*"));
        }
        self.push_block(&render_extra_fields(&meta.extra));
    }

    /// Writes a text as separate paragraphs, if it is not empty.
    fn push_prose(&mut self, text: Option<&SpannedText>) {
        if let Some(text) = non_empty_text(text) {
            self.push_block(&escape_prose(text));
        }
    }

    fn push_triggers(&mut self, triggers: &UaspTriggers) {
        let mut list = String::new();
        list.push_str(&render_code_list("Keywords", &triggers.keywords));
        list.push_str(&render_text_list("Intents", &triggers.intents, "; "));
        list.push_str(&render_code_list("Files", &triggers.file_patterns));
        if !list.is_empty() {
            self.push_block("## When to use");
            self.push_block(&list);
        }
    }

    fn push_guidelines(&mut self, constraints: &UaspConstraints) {
        let UaspConstraints { never, always, prefer } = constraints;
        if never.is_empty() && always.is_empty() && prefer.is_empty() {
            return;
        }
        self.push_block("## Guidelines");
        self.push_items("### Never", never);
        self.push_items("### Always", always);
        if !prefer.is_empty() {
            self.push_block("### Prefer");
            self.push_block(&prefer.iter().map(render_preference).collect::<String>());
        }
    }

    /// Writes a list below a title, if it is not empty.
    fn push_items(&mut self, title: &str, texts: &[SpannedText]) {
        if !texts.is_empty() {
            self.push_block(title);
            self.push_block(&texts.iter().map(render_item).collect::<String>());
        }
    }

    fn push_decisions(&mut self, decisions: &[UaspDecision]) {
        if decisions.is_empty() {
            return;
        }
        self.push_block("## Decisions");
        let row = |one: &UaspDecision| {
            vec![render_cell(one.when.as_ref()), render_cell(one.then.as_ref()), render_code_cell(one.source.as_ref())]
        };
        self.push_table(&["When", "Then", "See"], &decisions.iter().map(row).collect::<Vec<_>>());
    }

    fn push_state(&mut self, entities: &[StateEntity]) {
        if entities.is_empty() {
            return;
        }
        self.push_block("## State");
        for entity in entities {
            self.push_block(&format!("### {}", render_code_or_blank(entity.name.as_ref())));
            let mut list = String::new();
            if let Some(format) = non_empty_text(entity.format.as_ref()) {
                let _ = writeln!(list, "- Format: {}", to_one_line(format));
            }
            for (title, texts) in [
                ("Created by", &entity.created_by),
                ("Used by", &entity.consumed_by),
                ("Invalidated by", &entity.invalidated_by),
                ("Saved by", &entity.persisted_by),
                ("Restored by", &entity.restored_by),
                ("Holds", &entity.properties),
            ] {
                list.push_str(&render_text_list(title, texts, ", "));
            }
            list.push_str(&render_extra_fields(&entity.extra));
            self.push_block(&list);
        }
    }

    fn push_command(&mut self, command: &UaspCommand) {
        self.push_block(&format!("### {}", wrap_in_backticks(&command.path)));
        self.push_block(&render_fence("", command.syntax.as_deref().unwrap_or_default()));
        self.push_prose(command.description.as_ref());
        self.push_arguments(&command.arguments);
        self.push_flags("", &command.flags);
        let mut list = String::new();
        if let Some(purpose) = non_empty_text(command.purpose.as_ref()) {
            let _ = writeln!(list, "- Purpose: {}", to_one_line(purpose));
        }
        let aliases: Vec<String> = command.aliases.iter().map(|alias| render_code_cell(Some(alias))).collect();
        if !aliases.is_empty() {
            let _ = writeln!(list, "- Also called: {}", aliases.join(", "));
        }
        if let Some(returns) = non_empty_text(command.returns.as_ref()) {
            let _ = writeln!(list, "- Returns: {}", to_one_line(returns));
        }
        let effects =
            [("Needs", &command.requires), ("Creates", &command.creates), ("Invalidates", &command.invalidates)];
        for (title, names) in effects.into_iter().filter(|(_, names)| !names.is_empty()) {
            let names: Vec<String> = names.iter().map(|name| wrap_in_backticks(name)).collect();
            let _ = writeln!(list, "- {title}: {}", names.join(", "));
        }
        list.push_str(&render_extra_fields(&command.extra));
        self.push_block(&list);
        if let Some(note) = non_empty_text(command.note.as_ref()) {
            self.push_block(&format!("> {}", escape_prose(note).replace('\n', "\n> ")));
        }
        self.push_variants(&command.variants);
        if let Some(example) = non_empty_text(command.example.as_ref()) {
            self.push_block(&render_fence("bash", example));
        }
    }

    fn push_variants(&mut self, variants: &[CommandVariant]) {
        let row = |one: &CommandVariant| vec![render_code_cell(one.syntax.as_ref()), render_cell(one.purpose.as_ref())];
        self.push_table(&["Variant", "Purpose"], &variants.iter().map(row).collect::<Vec<_>>());
    }

    fn push_arguments(&mut self, arguments: &[UaspArgument]) {
        let row = |one: &UaspArgument| {
            let needed = one.is_required.map_or("", |is_required| if is_required { "yes" } else { "no" }).to_owned();
            let default = render_value_cell(one.default.as_ref());
            vec![
                render_code_cell(one.name.as_ref()),
                render_type(one),
                needed,
                default,
                render_cell(one.description.as_ref()),
            ]
        };
        let titles = ["Argument", "Type", "Required", "Default", "Meaning"];
        self.push_table(&titles, &arguments.iter().map(row).collect::<Vec<_>>());
    }

    fn push_flags(&mut self, title: &str, flags: &[UaspArgument]) {
        if flags.is_empty() {
            return;
        }
        self.push_block(title);
        let row = |one: &UaspArgument| {
            let names: Vec<String> =
                [&one.name, &one.short, &one.long].into_iter().flatten().map(render_code).collect();
            vec![
                names.join(", "),
                render_type(one),
                render_value_cell(one.default.as_ref()),
                render_code_cell(one.env.as_ref()),
                render_cell(one.purpose.as_ref().or(one.description.as_ref())),
            ]
        };
        self.push_table(
            &["Flag", "Type", "Default", "Variable", "Purpose"],
            &flags.iter().map(row).collect::<Vec<_>>(),
        );
    }

    fn push_workflows(&mut self, workflows: &[UaspWorkflow]) {
        if workflows.is_empty() {
            return;
        }
        self.push_block("## Workflows");
        for workflow in workflows {
            let words = to_title_case(&workflow.name.replace('_', " "));
            let is_reversible = page_parser::workflow_key(&words) == *workflow.name;
            self.push_block(&format!("### {}", if is_reversible { words } else { wrap_in_backticks(&workflow.name) }));
            self.push_prose(workflow.description.as_ref());
            self.push_items("Throughout:", &workflow.invariants);
            let mut list = String::new();
            for (number, step) in (1..).zip(&workflow.steps) {
                let note = non_empty_text(step.note.as_ref())
                    .map(|note| format!(": {}", to_one_line(note)))
                    .unwrap_or_default();
                let mark = if step.is_optional { " (optional)" } else { "" };
                let _ = writeln!(list, "{number}. {}{mark}{note}", render_code_or_blank(step.command.as_ref()));
            }
            self.push_block(&list);
            if let Some(example) = non_empty_text(workflow.example.as_ref()) {
                self.push_block(&render_fence("bash", example));
            }
            self.push_block(&render_extra_fields(&workflow.extra));
        }
    }

    fn push_reference(&mut self, reference: &[ReferenceEntry]) {
        if reference.is_empty() {
            return;
        }
        self.push_block("## Reference");
        for entry in reference {
            self.push_block(&format!("### {}", wrap_in_backticks(&entry.name)));
            if let Some(whole) = &entry.whole {
                self.push_block(&escape_prose(&value_to_text(whole)));
                continue;
            }
            self.push_prose(entry.notes.as_ref());
            for (text, title) in [(&entry.syntax, "Syntax:"), (&entry.example, "Example:")] {
                if let Some(text) = non_empty_text(text.as_ref()) {
                    self.push_block(title);
                    self.push_block(&render_fence("", text));
                }
            }
            if !entry.values.is_empty() {
                self.push_block(&format!("Values: {}", render_values(&entry.values)));
            }
            self.push_features(&entry.features);
        }
    }

    /// Writes the keys of a reference entry that are not in the schema; short values go into a table.
    fn push_features(&mut self, features: &Map<String, Value>) {
        let (short, long): (Vec<_>, Vec<_>) =
            features.iter().partition(|(_, value)| !value_to_text(value).contains('\n'));
        let form = |value: &Value| match value {
            Value::Array(items) => render_values(items),
            other => render_value_cell(Some(other)),
        };
        let rows: Vec<Vec<String>> =
            short.into_iter().map(|(key, value)| vec![escape_cell(key), form(value)]).collect();
        self.push_table(&["Feature", "Form"], &rows);
        for (key, value) in long {
            self.push_block(&format!("{}:", to_one_line(key)));
            self.push_block(&render_fence("", &value_to_text(value)));
        }
    }

    fn push_templates(&mut self, templates: &[UaspTemplate]) {
        if templates.is_empty() {
            return;
        }
        self.push_block("## Templates");
        for template in templates {
            self.push_block(&format!("### {}", wrap_in_backticks(&template.name)));
            self.push_prose(template.description.as_ref());
            let mut list = String::new();
            for (text, title) in [(&template.usage, "Usage"), (&template.path, "File")] {
                if let Some(text) = non_empty_text(text.as_ref()) {
                    let _ = writeln!(list, "- {title}: {}", render_code(text));
                }
            }
            list.push_str(&render_extra_fields(&template.extra));
            self.push_block(&list);
            self.push_arguments(&template.arguments);
            if let Some(inline) = non_empty_text(template.inline.as_ref()) {
                self.push_block(&render_fence("bash", inline));
            }
        }
    }

    fn push_environment(&mut self, environment: &[EnvironmentVariable]) {
        if environment.is_empty() {
            return;
        }
        self.push_block("## Environment");
        let row = |one: &EnvironmentVariable| {
            vec![
                render_code_cell(one.name.as_ref()),
                render_cell(one.purpose.as_ref()),
                render_value_cell(one.default.as_ref()),
            ]
        };
        self.push_table(&["Variable", "Purpose", "Default"], &environment.iter().map(row).collect::<Vec<_>>());
    }

    fn push_sources(&mut self, sources: &[SourceEntry]) {
        if sources.is_empty() {
            return;
        }
        self.push_block("## Sources");
        let one = |source: &SourceEntry| {
            let place = non_empty_text(source.url.as_ref()).or_else(|| non_empty_text(source.path.as_ref()));
            let place = place.map(|place| format!(": {}", render_address(&to_one_line(place)))).unwrap_or_default();
            let about = non_empty_text(source.use_for.as_ref())
                .map(|about| format!(" ({})", to_one_line(about)))
                .unwrap_or_default();
            format!("- {}{place}{about}\n", render_code_or_blank(source.id.as_ref()))
        };
        self.push_block(&sources.iter().map(one).collect::<String>());
    }

    /// Writes the sections that the specification does not define.
    fn push_unknown_sections(&mut self, document: &SkillDocument) {
        for (name, value) in document.unknown_sections() {
            self.push_block(&format!("## {}", to_one_line(name)));
            self.push_block(&render_fence("json", &format!("{value:#}")));
        }
    }

    /// Writes a table without its empty columns.
    fn push_table(&mut self, titles: &[&str], rows: &[Vec<String>]) {
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
        self.push_block(&table);
    }
}

/// Renders a preference on one line if it can be read back from there, otherwise field by field.
fn render_preference(one: &UaspPreference) -> String {
    if let Some(sentence) = &one.sentence {
        return render_item(sentence);
    }
    let fields = [("use", &one.preferred), ("over", &one.over), ("when", &one.when)];
    let whole: Map<String, Value> =
        fields.iter().filter_map(|(key, text)| Some(((*key).to_owned(), Value::from(text.as_deref()?)))).collect();
    let text = |text: &Option<SpannedText>| text.as_deref().map(to_one_line).unwrap_or_default();
    let when = one.when.as_ref().map(|when| format!(" when {}", to_one_line(when))).unwrap_or_default();
    let words = format!("{} over {}{when}", text(&one.preferred), text(&one.over));
    if page_parser::parse_preference(&words) == Value::Object(whole) {
        return format!("- {words}\n");
    }
    let written = fields.into_iter().filter(|(_, text)| text.is_some());
    let lines = written.map(|(key, own)| format!("  - {}: {}\n", to_title_case(key), text(own)));
    format!("- Preference:\n{}", lines.collect::<String>())
}

/// Renders the type of an argument or a flag, with its allowed values.
fn render_type(one: &UaspArgument) -> String {
    let name = render_cell(one.kind.as_ref());
    if one.values.is_empty() { name } else { format!("{name}: {}", render_values(&one.values)) }
}

/// Renders several texts as code on one line.
fn render_code_list(title: &str, texts: &[SpannedText]) -> String {
    let codes: Vec<String> = texts.iter().map(render_code).collect();
    if codes.is_empty() { String::new() } else { format!("- {title}: {}\n", codes.join(", ")) }
}

/// Renders several texts on one line, or as a list if one of them contains the separator.
fn render_text_list(title: &str, texts: &[SpannedText], between: &str) -> String {
    let words: Vec<String> = texts.iter().map(|text| to_one_line(text)).collect();
    if words.is_empty() {
        return String::new();
    }
    if words.iter().any(|word| word.contains(between.trim_end()) || word.is_empty()) {
        let lines = words.iter().map(|word| format!("  - {word}\n"));
        return format!("- {title}:\n{}", lines.collect::<String>());
    }
    format!("- {title}: {}\n", words.join(between))
}

/// Returns a text if it is not empty.
fn non_empty_text(text: Option<&SpannedText>) -> Option<&SpannedText> {
    text.filter(|text| !text.trim().is_empty())
}

/// Returns whether a value is neither null nor empty.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Converts a value to text: scalars unchanged, other values as JSON.
fn value_to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Escapes multi-line text, so that no line of it becomes a heading of the page.
fn escape_prose(text: &str) -> String {
    let lines = text
        .trim()
        .lines()
        .map(|line| if is_block_start(line) { format!("\\{}", line.trim()) } else { line.trim_end().to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether a line would start a new block instead of continuing its paragraph.
fn is_block_start(line: &str) -> bool {
    let line = line.trim_start();
    let bare = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_item = |rest: &str| rest.starts_with(' ') || rest.is_empty();
    let is_bullet = line.strip_prefix(['-', '*', '+']).is_some_and(is_item);
    let is_number = bare.len() < line.len() && bare.strip_prefix(['.', ')']).is_some_and(is_item);
    let is_marked = line.starts_with(['#', '>', '|', '\\']) || line.starts_with("```") || line.starts_with("~~~");
    is_bullet || is_number || is_marked || is_rule_line(line)
}

/// Returns whether a line below a text would turn it into a heading, or be a horizontal rule.
fn is_rule_line(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && ['=', '-', '*', '_'].iter().any(|mark| line.chars().all(|letter| letter == *mark))
}

/// Puts a text on one line.
fn to_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn render_item(text: &SpannedText) -> String {
    format!("- {}\n", to_one_line(text))
}

fn render_cell(text: Option<&SpannedText>) -> String {
    text.map(|text| escape_cell(text)).unwrap_or_default()
}

fn escape_cell(text: &str) -> String {
    to_one_line(text).replace('|', "\\|")
}

fn render_code_cell(text: Option<&SpannedText>) -> String {
    text.map(|text| render_code(text).replace('|', "\\|")).unwrap_or_default()
}

fn render_value_cell(value: Option<&Value>) -> String {
    value.filter(|value| !value.is_null()).map(|value| render_value(value).replace('|', "\\|")).unwrap_or_default()
}

/// Renders a text as code. Text that looks like another type of value or has several lines is quoted.
fn render_code(text: &SpannedText) -> String {
    let is_ambiguous = || text.trim().contains('\n') || serde_json::from_str::<Value>(text).is_ok();
    if text.is_text && is_ambiguous() {
        wrap_in_backticks(&Value::from(&**text).to_string())
    } else {
        wrap_in_backticks(text)
    }
}

fn render_code_or_blank(text: Option<&SpannedText>) -> String {
    text.map_or_else(|| wrap_in_backticks(""), render_code)
}

fn render_value(value: &Value) -> String {
    match value {
        Value::String(text) => render_code(&SpannedText::new(text)),
        other => wrap_in_backticks(&value_to_text(other)),
    }
}

/// Wraps text in as many backticks as it needs, on one line.
fn wrap_in_backticks(text: &str) -> String {
    let text = to_one_line(text);
    if text.is_empty() {
        return "` `".to_owned();
    }
    let marks = "`".repeat(longest_run(&text, '`') + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{gap}{text}{gap}{marks}")
}

fn render_values(values: &[Value]) -> String {
    values.iter().map(|value| render_value(value).replace('|', "\\|")).collect::<Vec<_>>().join(", ")
}

/// Renders a code block with a fence that no line of the text can close.
fn render_fence(language: &str, text: &str) -> String {
    let marks = "`".repeat((longest_run(text, '`') + 1).max(3));
    let end = if text.is_empty() { "" } else { "\n" };
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

/// Renders a URL as a link if it cannot break out of the brackets, otherwise as code.
fn render_address(text: &str) -> String {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    if is_web && !text.contains(['<', '>', ' ']) { format!("<{text}>") } else { wrap_in_backticks(text) }
}

/// Renders the keys that are not in the schema, so that nothing is lost.
fn render_extra_fields(extra: &Map<String, Value>) -> String {
    let own = extra.iter().filter(|(_, value)| is_filled(value));
    let words = |value: &Value| match value {
        Value::String(text) if !text.starts_with('`') => to_one_line(text),
        other => wrap_in_backticks(&other.to_string()),
    };
    own.map(|(key, value)| format!("- {}: {}\n", to_one_line(key), words(value))).collect()
}

/// Capitalizes every word, like the example of the specification.
fn to_title_case(text: &str) -> String {
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
    to_one_line(&out)
}
