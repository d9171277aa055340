//! `rep show`: prints everything about one skill.

use anstyle::Style;
use rep_check::render::escape_invisible;
use rep_library::documents::{list_companion_findings, show_document};
use rep_library::scan::ScanVerdict;
use rep_library::skill_details::{ContentVersion, FileEntry, SkillDetails, TokenFootprint};
use rep_library::{CatalogEntry, DependencyState, SkillStatus};
use rep_model::provenance::DeclaredProvenance;
use rep_model::truncate::truncate_chars;
use serde_json::Value;

use super::list::status_style;
use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs};
use crate::output::Output;

/// Show everything about one skill, with its token cost
///
/// Prints fields, files, tools, permissions, provenance and findings. Token costs are exact and shown per tier:
/// catalog entry, activation, and resources. Works for inactive skills too. Use `rep read` to print the
/// instructions.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep show csv-profile
  rep show skills/csv-profile --json
  rep show csv-profile -v             # all fields and files in full")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The maximum number of lines per list, without `--verbose`.
const LINES_MAX: usize = 30;
/// The maximum width of a value, without `--verbose`.
const WIDTH_MAX: usize = 100;

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    show_skill(args, output).map_err(|failure| failure.json(args.json))
}

fn show_skill(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.find_any_skill(&args.skill, output)?;
    let entry = &catalog.entries[index];
    let dossier = SkillDetails::load(entry)?;
    library::report_version_warnings(&dossier.validation.version_warnings, output);
    if args.json {
        output.write_json(&show_document(&catalog, entry, &dossier));
        return Ok(Exit::Fine);
    }
    let mut page = SkillDetailsPage { text: String::new(), output };
    render_identity(&mut page, entry, &dossier);
    render_costs(&mut page, &dossier.footprint);
    render_fields(&mut page, &dossier);
    render_files(&mut page, &dossier);
    render_tools(&mut page, &dossier);
    render_scan(&mut page, &dossier);
    render_findings(&mut page, entry, &dossier);
    let text = page.text;
    output.write_data(&text);
    let copies = catalog.entries.iter().filter(|other| other.qualified_name == entry.qualified_name).count();
    if copies > 1 {
        output.print_message(&format!(
            "{copies} skills have this name; run `rep why {}` to see all",
            entry.qualified_name
        ));
    }
    Ok(Exit::Fine)
}

/// The page that is printed, built section by section.
struct SkillDetailsPage<'a> {
    text: String,
    output: &'a Output,
}

impl SkillDetailsPage<'_> {
    fn push_heading(&mut self, title: &str, note: &str) {
        let title = self.output.style_text(Style::new().bold(), title);
        let gap = if note.is_empty() { "" } else { "  " };
        self.text.push_str(&format!("\n{title}{gap}{note}\n"));
    }

    fn push_row(&mut self, label: &str, value: &str) {
        let label = format!("{:13}", escape_invisible(label));
        let label = self.output.style_text(Style::new().dimmed(), &label);
        self.text.push_str(&format!("  {label} {}\n", self.clip_value(value)));
    }

    fn push_optional_row(&mut self, label: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.push_row(label, value);
        }
    }

    /// Appends a paragraph, wrapped at a readable width.
    fn push_paragraph(&mut self, text: &str) {
        let most = if self.output.is_verbose { usize::MAX } else { WIDTH_MAX * 20 };
        let shown = truncate_chars(text, most);
        let mark = if shown.len() < text.len() { " …" } else { "" };
        let mut width = 0;
        for word in shown.split_whitespace() {
            let length = word.chars().count();
            let gap = match width {
                0 => "  ",
                _ if width + length >= WIDTH_MAX => "\n  ",
                _ => " ",
            };
            width = if gap == " " { width + 1 + length } else { length };
            self.text.push_str(&format!("{gap}{}", escape_invisible(word)));
        }
        if width > 0 {
            self.text.push_str(&format!("{mark}\n\n"));
        }
    }

    /// Returns a value on one line, sanitized and clipped.
    fn clip_value(&self, value: &str) -> String {
        // Sanitize only the visible part: a value may be megabytes long.
        let most = if self.output.is_verbose { usize::MAX } else { WIDTH_MAX };
        let shown = truncate_chars(value, most);
        let mark = if shown.len() < value.len() { "…" } else { "" };
        format!("{}{mark}", escape_invisible(shown.replace('\n', " ").trim_end()))
    }

    /// Appends the lines of a list, and the number of lines omitted.
    fn push_lines<T>(&mut self, items: &[T], line: impl Fn(&T) -> String) {
        let most = if self.output.is_verbose { usize::MAX } else { LINES_MAX };
        for item in items.iter().take(most) {
            self.text.push_str(&format!("  {}\n", line(item)));
        }
        if items.len() > most {
            self.text.push_str(&format!("  … {} more; pass `-v` to see all\n", items.len() - most));
        }
    }
}

fn render_identity(page: &mut SkillDetailsPage<'_>, entry: &CatalogEntry, dossier: &SkillDetails) {
    let name = page.output.style_text(Style::new().bold(), &escape_invisible(&entry.qualified_name));
    let status = page.output.style_text(status_style(entry.status), entry.status.name());
    page.text = format!("{name}  {status}  {}\n", entry.scope.name());
    if !entry.reason.is_empty() {
        page.text.push_str(&format!("{}\n", page.clip_value(&entry.reason)));
    }
    page.push_optional_row("remedy", entry.suggest_remedy().as_deref());
    page.text.push('\n');
    page.push_paragraph(&entry.description);
    page.push_row("at", &entry.location.to_string_lossy());
    let dialects: Vec<&str> = dossier.dialects.iter().map(|dialect| dialect.name()).collect();
    page.push_row("dialects", &dialects.join(", "));
    let provenance = &dossier.provenance;
    page.push_optional_row("package", entry.package());
    page.push_optional_row("version", provenance.version.as_deref());
    for version in &dossier.versions {
        page.push_row("content", &render_content_version(version));
    }
    page.push_optional_row("license", provenance.license.as_deref());
    page.push_optional_row("author", provenance.author.as_deref());
    for (name, value) in provenance.declared.iter().flat_map(DeclaredProvenance::rows) {
        page.push_row(&name.replace('_', " "), &value);
    }
    page.push_row("digest", provenance.digest.as_deref().unwrap_or("not computed: the skill is too large"));
    page.push_row("callable by", describe_callers(entry, dossier));
    let needed = entry.dependencies.iter().map(|dependency| match &dependency.state {
        DependencyState::Met => dependency.id.clone(),
        other => format!("{} ({})", dependency.id, other.name()),
    });
    page.push_optional_row("depends on", Some(&needed.collect::<Vec<_>>().join(", ")));
}

fn render_content_version(version: &ContentVersion) -> String {
    let declared = version.declared.as_deref().unwrap_or("nothing");
    match &version.computed {
        None => format!("{} declares {declared}, but cannot be hashed", version.file),
        Some(computed) if computed == declared => format!("{} is {computed}, as declared", version.file),
        Some(computed) => format!("{} declares {declared}, but its content hashes to {computed}", version.file),
    }
}

fn describe_callers(entry: &CatalogEntry, dossier: &SkillDetails) -> &'static str {
    match (entry.status, dossier.is_model_invocable, entry.is_user_invocable) {
        (SkillStatus::Active | SkillStatus::Hidden, true, true) => "models and people",
        (SkillStatus::Active | SkillStatus::Hidden, true, false) => "models only",
        (SkillStatus::Active | SkillStatus::Hidden, false, true) => "people only",
        _ => "no one",
    }
}

fn render_costs(page: &mut SkillDetailsPage<'_>, footprint: &TokenFootprint) {
    page.push_heading("tokens", &format!("({})", footprint.tokenizer));
    let mut row = |label: &str, tokens: Option<usize>, note: &str| {
        let tokens = tokens.map_or_else(|| "?".to_owned(), group_thousands);
        page.push_row(label, &format!("{tokens:>9}  {note}"));
    };
    row("catalogue", Some(footprint.catalogue), "always in context");
    let body = if footprint.activation.is_some() { "when activated: body and wrapper" } else { "not readable" };
    row("activation", footprint.activation, body);
    let counted = match (footprint.counted, footprint.uncounted) {
        (0, 0) => "no other files".to_owned(),
        (counted, 0) => format!("when read: {}", format_count(counted, "text file")),
        (counted, rest) => format!("when read: {}; {rest} not counted", format_count(counted, "text file")),
    };
    row("resources", Some(footprint.resources), &counted);
    row("total", Some(footprint.total_tokens()), "");
    if let Some((bytes, tokens)) = footprint.frontmatter {
        row("frontmatter", Some(tokens), &format!("{} bytes", group_thousands(bytes)));
    }
    let Some(origin) = footprint.structure else { return };
    page.push_heading("tokens of an answer", &format!("({}; `rep query`)", origin.name()));
    for (section, tokens) in &footprint.sections {
        page.push_row(section, &format!("{:>9}", group_thousands(*tokens)));
    }
    let total: usize = footprint.sections.iter().map(|(_, tokens)| tokens).sum();
    page.push_row("all", &format!("{:>9}", group_thousands(total)));
}

fn render_fields(page: &mut SkillDetailsPage<'_>, dossier: &SkillDetails) {
    let Value::Object(fields) = dossier.frontmatter_json() else { return };
    page.push_heading("fields", &format_count(fields.len(), ""));
    for (key, value) in &fields {
        // Printed in other sections.
        if matches!(key.as_str(), "description" | "tools" | "permissions") && !page.output.is_verbose {
            continue;
        }
        match value {
            Value::String(text) => page.push_row(key, text),
            other => page.push_row(key, &other.to_string()),
        }
    }
}

fn render_files(page: &mut SkillDetailsPage<'_>, dossier: &SkillDetails) {
    let size: u64 = dossier.files.iter().filter_map(|file| file.size_bytes).sum();
    page.push_heading("files", &format!("{}, {} bytes", dossier.files.len(), group_thousands(size)));
    let width = dossier.files.iter().take(LINES_MAX).map(|file| file.path.chars().count()).max().unwrap_or(0).min(50);
    page.push_lines(&dossier.files, |file: &FileEntry| {
        let size = file.size_bytes.map_or_else(|| "–".to_owned(), group_thousands);
        let tokens =
            file.tokens.map_or_else(|| file.form.name().to_owned(), |tokens| group_thousands(tokens) + " tokens");
        let mode = if file.is_executable { "  executable" } else { "" };
        format!("{:width$}  {:9}  {size:>11}  {tokens:>14}{mode}", escape_invisible(&file.path), file.kind)
    });
    if !dossier.skill.tree.omissions.is_empty() {
        page.text.push_str(&format!("  not fully read: {}\n", dossier.skill.tree.omissions));
    }
}

fn render_tools(page: &mut SkillDetailsPage<'_>, dossier: &SkillDetails) {
    let effective = &dossier.tools;
    if !effective.tools.is_empty() || effective.stale {
        let stale = if effective.stale { "; tools.json is stale" } else { "" };
        page.push_heading("tools", &format!("{}, from {}{stale}", effective.tools.len(), effective.source.name()));
        page.push_lines(&effective.tools, |tool| {
            let word = |path: &str| tool.pointer(path).and_then(Value::as_str).unwrap_or("?").to_owned();
            let confirmed = tool.pointer("/confirmation/level").and_then(Value::as_str);
            let confirmed = confirmed.map(|level| format!(", confirmation {level}")).unwrap_or_default();
            let line = format!(
                "{}  ({} {}{confirmed})",
                word("/name"),
                word("/implementation/runtime"),
                word("/implementation/entrypoint")
            );
            escape_invisible(truncate_chars(&line, WIDTH_MAX * 2)).into_owned()
        });
    }
    let permissions = dossier.permissions_json();
    if !permissions.is_null() || !dossier.allowed_tools.is_empty() {
        page.push_heading("permissions", if effective.tools.is_empty() { "" } else { "of every tool" });
        for (label, path) in [
            ("reads", "/filesystem/read"),
            ("writes", "/filesystem/write"),
            ("connects to", "/network/outbound"),
            ("subprocesses", "/processes/allow_subprocess"),
        ] {
            page.push_optional_row(label, permissions.pointer(path).map(describe_permission).as_deref());
        }
        page.push_optional_row("host tools", Some(&dossier.allowed_tools.join(", ")));
    }
}

/// Renders what the code of the skill does, in words.
fn render_scan(page: &mut SkillDetailsPage<'_>, dossier: &SkillDetails) {
    let scan = dossier.scan();
    let lines = scan.describe();
    if lines.is_empty() && scan.verdict() == ScanVerdict::Clear {
        return;
    }
    page.push_heading("what its code does", &format!("{}; run `rep scan` for more", scan.verdict().name()));
    page.push_lines(&lines, |line| escape_invisible(line).into_owned());
}

/// Describes a permission in words.
fn describe_permission(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "nothing".to_owned(),
        Value::Array(items) => {
            let words = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            words.collect::<Vec<_>>().join(", ")
        }
        Value::Bool(true) => "allowed".to_owned(),
        Value::Bool(false) => "none".to_owned(),
        other => other.to_string(),
    }
}

fn render_findings(page: &mut SkillDetailsPage<'_>, entry: &CatalogEntry, dossier: &SkillDetails) {
    let companion = list_companion_findings(entry, dossier);
    if entry.findings.is_empty() && companion.is_empty() {
        return;
    }
    page.push_heading("findings", "from loading; run `rep check` for more");
    page.push_lines(&entry.findings, |finding| {
        escape_invisible(&format!("{}: {}", finding.level.name(), finding.message)).into_owned()
    });
    page.push_lines(&companion, |violation| {
        escape_invisible(&format!("{}: {}", violation.level.name(), violation.message)).into_owned()
    });
}

/// Formats a number with thousands separators.
fn group_thousands(number: impl ToString + Copy) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn format_count(count: usize, noun: &str) -> String {
    if noun.is_empty() {
        return group_thousands(count);
    }
    format!("{} {noun}{}", group_thousands(count), if count == 1 { "" } else { "s" })
}
