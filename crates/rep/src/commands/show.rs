//! `rep show`: everything about one skill.

use anstyle::Style;
use rep_check::render::{json_finding, visible};
use rep_library::dossier::{ContentVersion, Dossier, FileEntry, Footprint};
use rep_library::{Catalog, CatalogEntry, DependencyState, Status};
use rep_model::truncate::truncate_chars;
use serde_json::{Map, Value, json};

use super::list::status_style;
use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Show everything about one skill: fields, files, tools, permissions, provenance and what it costs in tokens
#[derive(clap::Args)]
#[command(
    after_help = "Works for every skill that is listed, also where it is not active. The body is counted and not printed; `rep read` does that.\n\nTokens are counted exactly, by the tokenizer that is named. The tiers: `catalogue` is the entry in the catalogue (XML with location), always in context; `activation` is the body with its wrapper, in context once the skill is used; `resources` are all its text files, each read only when needed. Files above 1 MiB, and what is beyond 8 MiB a skill, are not counted.\n\nExamples:\n  rep show pdf-processing\n  rep show ./my-skill --json\n  rep show pdf-processing -v      every field and file in full"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// How many lines of a list are shown unless all are wanted.
const LINES_MAX: usize = 30;
/// How wide a value is shown unless all of it is wanted.
const WIDTH_MAX: usize = 100;

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    show(args, output).map_err(|failure| failure.json(args.json))
}

fn show(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.any(&args.skill, output)?;
    let entry = &catalog.entries[index];
    let dossier = Dossier::of(entry)?;
    if args.json {
        output.json(&value(&catalog, entry, &dossier));
        return Ok(Exit::Fine);
    }
    let mut page = Page { text: String::new(), output };
    identity(&mut page, entry, &dossier);
    costs(&mut page, &dossier.footprint);
    fields(&mut page, &dossier);
    files(&mut page, &dossier);
    tools(&mut page, &dossier);
    findings(&mut page, entry);
    let text = page.text;
    output.data(&text);
    let copies = catalog.entries.iter().filter(|other| other.qualified_name == entry.qualified_name).count();
    if copies > 1 {
        output.say(&format!("{copies} copies of the name; `rep why {}` tells about all", entry.qualified_name));
    }
    Ok(Exit::Fine)
}

/// What is printed, piece by piece.
struct Page<'a> {
    text: String,
    output: &'a Output,
}

impl Page<'_> {
    fn heading(&mut self, title: &str, note: &str) {
        let title = self.output.styled(Style::new().bold(), title);
        let gap = if note.is_empty() { "" } else { "  " };
        self.text.push_str(&format!("\n{title}{gap}{note}\n"));
    }

    fn row(&mut self, label: &str, value: &str) {
        let label = format!("{:13}", visible(label));
        let label = self.output.styled(Style::new().dimmed(), &label);
        self.text.push_str(&format!("  {label} {}\n", self.clipped(value)));
    }

    fn some(&mut self, label: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.row(label, value);
        }
    }

    /// A text of some sentences, in lines of a width people read.
    fn paragraph(&mut self, text: &str) {
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
            self.text.push_str(&format!("{gap}{}", visible(word)));
        }
        if width > 0 {
            self.text.push_str(&format!("{mark}\n\n"));
        }
    }

    /// A value on one line, harmless, and no wider than wanted.
    fn clipped(&self, value: &str) -> String {
        // Only what is shown is worked on: a value may be megabytes long.
        let most = if self.output.is_verbose { usize::MAX } else { WIDTH_MAX };
        let shown = truncate_chars(value, most);
        let mark = if shown.len() < value.len() { "…" } else { "" };
        format!("{}{mark}", visible(shown.replace('\n', " ").trim_end()))
    }

    /// The lines of a list, and how many more there are.
    fn lines<T>(&mut self, items: &[T], line: impl Fn(&T) -> String) {
        let most = if self.output.is_verbose { usize::MAX } else { LINES_MAX };
        for item in items.iter().take(most) {
            self.text.push_str(&format!("  {}\n", line(item)));
        }
        if items.len() > most {
            self.text.push_str(&format!("  … {} more; `-v` shows all\n", items.len() - most));
        }
    }
}

fn identity(page: &mut Page<'_>, entry: &CatalogEntry, dossier: &Dossier) {
    let name = page.output.styled(Style::new().bold(), &visible(&entry.qualified_name));
    let status = page.output.styled(status_style(entry.status), entry.status.name());
    page.text = format!("{name}  {status}  {}\n", entry.scope.name());
    if !entry.reason.is_empty() {
        page.text.push_str(&format!("{}\n", page.clipped(&entry.reason)));
    }
    page.some("remedy", entry.remedy().as_deref());
    page.text.push('\n');
    page.paragraph(&entry.description);
    page.row("at", &entry.location.to_string_lossy());
    let dialects: Vec<&str> = dossier.dialects.iter().map(|dialect| dialect.name()).collect();
    page.row("dialects", &dialects.join(", "));
    let provenance = &dossier.provenance;
    page.some("package", entry.package());
    page.some("version", provenance.version.as_deref());
    for version in &dossier.versions {
        page.row("content", &content_version(version));
    }
    page.some("license", provenance.license.as_deref());
    page.some("author", provenance.author.as_deref());
    page.row("digest", provenance.digest.as_deref().unwrap_or("not computed: the skill is too large"));
    page.row("callable by", callable_by(entry, dossier));
    let needed = entry.dependencies.iter().map(|dependency| match &dependency.state {
        DependencyState::Met => dependency.id.clone(),
        other => format!("{} ({})", dependency.id, other.name()),
    });
    page.some("depends on", Some(&needed.collect::<Vec<_>>().join(", ")));
}

fn content_version(version: &ContentVersion) -> String {
    let declared = version.declared.as_deref().unwrap_or("nothing");
    match &version.computed {
        None => format!("{} declares {declared}, and cannot be hashed", version.file),
        Some(computed) if computed == declared => format!("{} is {computed}, as declared", version.file),
        Some(computed) => format!("{} declares {declared}, its content gives {computed}", version.file),
    }
}

fn callable_by(entry: &CatalogEntry, dossier: &Dossier) -> &'static str {
    match (entry.status, dossier.is_model_invocable, entry.is_user_invocable) {
        (Status::Active | Status::Hidden, true, true) => "models and people",
        (Status::Active | Status::Hidden, true, false) => "models only",
        (Status::Active | Status::Hidden, false, true) => "people only",
        _ => "nobody",
    }
}

fn costs(page: &mut Page<'_>, footprint: &Footprint) {
    page.heading("tokens", &format!("({})", footprint.tokenizer));
    let mut row = |label: &str, tokens: Option<usize>, note: &str| {
        let tokens = tokens.map_or_else(|| "?".to_owned(), grouped);
        page.row(label, &format!("{tokens:>9}  {note}"));
    };
    row("catalogue", Some(footprint.catalogue), "always in context");
    let body = if footprint.activation.is_some() { "when it is used: body and wrapper" } else { "it cannot be read" };
    row("activation", footprint.activation, body);
    let counted = match (footprint.counted, footprint.uncounted) {
        (0, 0) => "it has no other files".to_owned(),
        (counted, 0) => format!("when they are read: {}", plural(counted, "text file")),
        (counted, rest) => format!("when they are read: {}; {rest} not counted", plural(counted, "text file")),
    };
    row("resources", Some(footprint.resources), &counted);
    row("total", Some(footprint.total()), "");
    if let Some((bytes, tokens)) = footprint.frontmatter {
        row("frontmatter", Some(tokens), &format!("{} bytes", grouped(bytes)));
    }
    let Some(origin) = footprint.structure else { return };
    page.heading("tokens of an answer", &format!("({}; `rep query`)", origin.name()));
    for (section, tokens) in &footprint.sections {
        page.row(section, &format!("{:>9}", grouped(*tokens)));
    }
    let total: usize = footprint.sections.iter().map(|(_, tokens)| tokens).sum();
    page.row("all", &format!("{:>9}", grouped(total)));
}

fn fields(page: &mut Page<'_>, dossier: &Dossier) {
    let Value::Object(fields) = dossier.fields() else { return };
    page.heading("fields", &plural(fields.len(), ""));
    for (key, value) in &fields {
        // Told above, or below.
        if matches!(key.as_str(), "description" | "tools" | "permissions") && !page.output.is_verbose {
            continue;
        }
        match value {
            Value::String(text) => page.row(key, text),
            other => page.row(key, &other.to_string()),
        }
    }
}

fn files(page: &mut Page<'_>, dossier: &Dossier) {
    let size: u64 = dossier.files.iter().filter_map(|file| file.size_bytes).sum();
    page.heading("files", &format!("{}, {} bytes", dossier.files.len(), grouped(size)));
    let width = dossier.files.iter().take(LINES_MAX).map(|file| file.path.chars().count()).max().unwrap_or(0).min(50);
    page.lines(&dossier.files, |file: &FileEntry| {
        let size = file.size_bytes.map_or_else(|| "–".to_owned(), grouped);
        let tokens = file.tokens.map_or_else(|| file.form.name().to_owned(), |tokens| grouped(tokens) + " tokens");
        let mode = if file.is_executable { "  executable" } else { "" };
        format!("{:width$}  {:9}  {size:>11}  {tokens:>14}{mode}", visible(&file.path), file.kind)
    });
    if !dossier.skill.tree.left_out.is_empty() {
        page.text.push_str(&format!("  not read whole: {}\n", dossier.skill.tree.left_out));
    }
}

fn tools(page: &mut Page<'_>, dossier: &Dossier) {
    let effective = &dossier.tools;
    if !effective.tools.is_empty() || effective.stale {
        let stale = if effective.stale { "; tools.json is stale" } else { "" };
        page.heading("tools", &format!("{}, from {}{stale}", effective.tools.len(), effective.source.name()));
        page.lines(&effective.tools, |tool| {
            let word = |path: &str| tool.pointer(path).and_then(Value::as_str).unwrap_or("?").to_owned();
            let confirmed = tool.pointer("/confirmation/level").and_then(Value::as_str);
            let confirmed = confirmed.map(|level| format!(", confirmation {level}")).unwrap_or_default();
            let line = format!(
                "{}  ({} {}{confirmed})",
                word("/name"),
                word("/implementation/runtime"),
                word("/implementation/entrypoint")
            );
            visible(truncate_chars(&line, WIDTH_MAX * 2)).into_owned()
        });
    }
    let permissions = dossier.permissions();
    if !permissions.is_null() || !dossier.allowed_tools.is_empty() {
        page.heading("permissions", if effective.tools.is_empty() { "" } else { "of every tool" });
        for (label, path) in [
            ("reads", "/filesystem/read"),
            ("writes", "/filesystem/write"),
            ("connects to", "/network/outbound"),
            ("subprocesses", "/processes/allow_subprocess"),
        ] {
            page.some(label, permissions.pointer(path).map(told).as_deref());
        }
        page.some("host tools", Some(&dossier.allowed_tools.join(", ")));
    }
}

/// A permission in words.
fn told(value: &Value) -> String {
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

fn findings(page: &mut Page<'_>, entry: &CatalogEntry) {
    if entry.findings.is_empty() {
        return;
    }
    page.heading("findings", "of loading; `rep check` looks closer");
    page.lines(&entry.findings, |finding| {
        visible(&format!("{}: {}", finding.level.name(), finding.message)).into_owned()
    });
}

/// A number with its thousands set apart.
fn grouped(number: impl ToString + Copy) -> String {
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

fn plural(count: usize, noun: &str) -> String {
    if noun.is_empty() {
        return grouped(count);
    }
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

fn value(catalog: &Catalog, entry: &CatalogEntry, dossier: &Dossier) -> Value {
    let winner = entry.shadowed_by.and_then(|index| catalog.entries.get(index));
    let provenance = &dossier.provenance;
    let version = |version: &ContentVersion| {
        json!({
            "file": version.file,
            "declared": version.declared,
            "computed": version.computed,
            "match": version.computed.is_some() && version.declared == version.computed,
        })
    };
    json!({
        "name": entry.name,
        "qualified_name": entry.qualified_name,
        "description": entry.description,
        "dialects": dossier.dialects.iter().map(|dialect| dialect.name()).collect::<Vec<_>>(),
        "status": entry.status.name(),
        "scope": entry.scope.name(),
        "reason": entry.reason,
        "remedy": entry.remedy(),
        "shadowed_by": winner.map(|winner| &winner.location),
        "location": entry.location,
        "folder": entry.folder,
        "switches": {
            "model_invocable": dossier.is_model_invocable,
            "user_invocable": entry.is_user_invocable,
            "disabled": entry.status == Status::Disabled,
            "trusted": entry.status != Status::Untrusted,
        },
        "provenance": {
            "package": entry.package(),
            "version": provenance.version,
            "license": provenance.license,
            "author": provenance.author,
            "digest": provenance.digest,
            "content_versions": dossier.versions.iter().map(version).collect::<Vec<_>>(),
        },
        "fields": dossier.fields(),
        "files": dossier.files.iter().map(file_value).collect::<Vec<_>>(),
        "left_out": dossier.skill.tree.left_out,
        "tools": {
            "source": dossier.tools.source.name(),
            "stale": dossier.tools.stale,
            "tools": dossier.tools.tools,
        },
        "permissions": dossier.permissions(),
        "allowed_tools": dossier.allowed_tools,
        "depends_on": super::list::dependencies(catalog, entry),
        "findings": entry.findings.iter().map(json_finding).collect::<Vec<_>>(),
        "tokens": tokens_value(&dossier.footprint),
    })
}

fn file_value(file: &FileEntry) -> Value {
    json!({
        "path": file.path,
        "kind": file.kind,
        "form": file.form.name(),
        "size_bytes": file.size_bytes,
        "executable": file.is_executable,
        "tokens": file.tokens,
    })
}

fn tokens_value(footprint: &Footprint) -> Value {
    json!({
        "tokenizer": footprint.tokenizer,
        "catalogue": footprint.catalogue,
        "activation": footprint.activation,
        "resources": footprint.resources,
        "total": footprint.total(),
        "files_counted": footprint.counted,
        "files_not_counted": footprint.uncounted,
        "frontmatter": footprint.frontmatter.map(|(bytes, tokens)| json!({ "bytes": bytes, "tokens": tokens })),
        "sections": footprint.sections.iter().map(|(name, tokens)| (name.clone(), json!(tokens))).collect::<Map<_, _>>(),
        "structure": footprint.structure.map(rep_model::Origin::name),
    })
}
