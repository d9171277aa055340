//! Everything about one skill.

use maud::{Markup, html};
use rep_library::dossier::{Dossier, FileEntry};
use rep_library::{CatalogEntry, DependencyState, Status, disclose};
use rep_mcp::{one_line, read_file};
use rep_runtime::{CallError, ExecutableSkill, PolicyLine, Runtime, ToolDescriptor, ToolFault, ToolKind};
use serde_json::Value;

use super::chart::{self, Bar};
use super::fields::encode;
use super::html::{code_block, counted, grouped, truncate, with_code};
use super::layout::{self, Location};
use super::{PageRequest, PageResponse, findings, library, markdown};

/// How much of a file, and how many files, findings and tools are shown.
const FILE_CHARS_MAX: usize = 256 << 10;
const FILES_MAX: usize = 300;
const FINDINGS_MAX: usize = 100;
const TOOLS_MAX: usize = 100;
/// How much of a tool's description is beside its name.
const SUMMARY_CHARS: usize = 140;

pub(super) fn render(request: &PageRequest) -> PageResponse {
    let Some((index, entry)) = layout::find_entry(request) else {
        return PageResponse::Missing(format!("There is no skill “{}”.", request.fields.get("name")));
    };
    if let Some(path) = request.fields.non_empty("file") {
        return render_file(request, index, entry, path);
    }
    let is_withheld = layout::is_withheld(request, entry);
    let body = html! {
        (heading(request, entry, is_withheld))
        @if is_withheld {
            section class="card" {
                h2 { "Not trusted" }
                p {
                    "What it says is not shown and nothing of it runs until you trust it: look at its folder, then run "
                    code { "rep trust" } "."
                }
                (copies(request, index))
            }
        } @else {
            @match Dossier::of(entry) {
                Ok(dossier) => (details(request, index, entry, &dossier)),
                Err(error) => (layout::alert(&error.to_string())),
            }
        }
    };
    PageResponse::Page(Location::Library, entry.qualified_name.clone(), body)
}

fn heading(request: &PageRequest, entry: &CatalogEntry, is_withheld: bool) -> Markup {
    html! {
        nav class="trail" aria-label="Breadcrumb" { a href="/" { "Library" } }
        div class="title" {
            h1 { bdi { (truncate(&entry.qualified_name, 120)) } }
            p class="marks" { (layout::status(entry.status)) " " span class="chip" { (entry.scope.name()) } }
        }
        @if !entry.reason.is_empty() {
            p class="alert" {
                (library::reason(request, entry))
                @if let Some(remedy) = entry.remedy() {
                    br;
                    b { "To change that:" } " " (with_code(&remedy))
                }
            }
        }
        @if !is_withheld { p class="lead" { (entry.description) } }
    }
}

fn details(request: &PageRequest, index: usize, entry: &CatalogEntry, dossier: &Dossier) -> Markup {
    html! {
        div class="columns" {
            div class="main" {
                (check_results(request, entry))
                (tools(request, entry, dossier))
                section class="card body" aria-labelledby="instructions" {
                    h2 id="instructions" { "Instructions" }
                    (instructions(request, index, entry))
                }
            }
            div class="side" {
                (costs(dossier))
                (permissions(request, entry, dossier))
                (dependencies(request, entry))
                (provenance(entry, dossier))
                (files(request, index, dossier))
                (copies(request, index))
            }
        }
    }
}

fn instructions(request: &PageRequest, index: usize, entry: &CatalogEntry) -> Markup {
    let is_shown = matches!(entry.status, Status::Active | Status::Hidden | Status::Shadowed | Status::Disabled);
    match disclose::body(entry) {
        Ok(text) if is_shown => {
            let is_markdown = entry.location.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
            if is_markdown {
                markdown::render(&text, &format!("{}&file=", layout::address(&request.view.catalog, index)))
            } else {
                code_block(&truncate(&text, FILE_CHARS_MAX))
            }
        }
        Ok(_) => html! { p class="muted" { "It cannot be loaded, so that its text is not shown." } },
        Err(error) => layout::alert(&error.to_string()),
    }
}

/// What `rep check` finds.
fn check_results(request: &PageRequest, entry: &CatalogEntry) -> Markup {
    let project = request.dashboard.server.runtime().options().library.project.as_deref();
    let found = match findings::check_skill(entry, project) {
        Ok(found) => found,
        Err(error) => {
            return html! { section class="card" { h2 { "Findings" } (layout::alert(&error.to_string())) } };
        }
    };
    if found.is_empty() {
        return html! {
            p class="alert good" { "Nothing is wrong with it: " code { "rep check" } " finds nothing." }
        };
    }
    let rest = found.len().saturating_sub(FINDINGS_MAX);
    html! {
        section class="card" {
            h2 { "Findings " span class="number" { (found.len()) } }
            ul class="plain" {
                @for finding in found.iter().take(FINDINGS_MAX) {
                    @let (level, place) = (finding.level.name(), &finding.place);
                    li class={ "finding " (level) } {
                        p { (layout::pill(level, level)) " " (with_code(&finding.message)) }
                        p class="place" { code { (place.file) ":" (place.start.line) } " · " (finding.rule.name) }
                        @if !place.excerpt.is_empty() {
                            (code_block(&format!("{} │ {}", place.start.line, truncate(&place.excerpt, 300))))
                        }
                        @if !finding.help.is_empty() { p class="help" { b { "Fix:" } " " (with_code(&finding.help)) } }
                        @if finding.edit.is_some() { p class="help" { code { "rep check --fix" } " fixes this." } }
                    }
                }
                @if rest > 0 { li { "… and " (rest) " more" } }
            }
        }
    }
}

/// The tools of a skill that may run here.
fn callable_tools<'a>(request: &'a PageRequest, entry: &CatalogEntry) -> Vec<&'a ToolDescriptor> {
    let is_own = |tool: &&ToolDescriptor| entry.status == Status::Active && tool.skill == entry.qualified_name;
    request.view.tools().iter().filter(is_own).collect()
}

fn tools(request: &PageRequest, entry: &CatalogEntry, dossier: &Dossier) -> Markup {
    let callable = callable_tools(request, entry);
    let declared = &dossier.tools.tools;
    let is_own = |fault: &&ToolFault| entry.status == Status::Active && fault.skill == entry.qualified_name;
    let faults: Vec<&ToolFault> = request.view.tool_faults().iter().filter(is_own).collect();
    if declared.is_empty() && callable.is_empty() && faults.is_empty() {
        return Markup::default();
    }
    html! {
        section class="card" {
            h2 { "Tools" }
            @if dossier.tools.stale { p class="why" { "tools.json says something else." } }
            @for fault in faults.iter().take(TOOLS_MAX) {
                p class="why" {
                    @if !fault.tool.is_empty() { code { (fault.tool) } " " }
                    "is not offered to clients: " (with_code(&fault.message))
                }
            }
            @for tool in declared.iter().take(TOOLS_MAX) {
                @let text = |path: &str| tool.pointer(path).and_then(Value::as_str).unwrap_or_default();
                @let is_same = |other: &&&ToolDescriptor| other.kind == ToolKind::Tool && other.tool == text("/name");
                details class="tool" {
                    (summary(text("/name"), text("/description")))
                    p class="place" { (text("/implementation/runtime")) " " (text("/implementation/entrypoint")) }
                    (schema("Takes", tool.get("input_schema")))
                    @if let Some(tool) = callable.iter().find(is_same) {
                        (run_form(request, tool, &sample_input(&tool.definition["inputSchema"])))
                    }
                    (schema("Gives", tool.get("output_schema")))
                }
            }
            @for tool in callable.iter().filter(|tool| tool.kind == ToolKind::Command).take(TOOLS_MAX) {
                @let description = tool.definition.get("description").and_then(Value::as_str).unwrap_or_default();
                details class="tool" {
                    (summary(&tool.tool, description))
                    p class="place" { "a command" }
                    (schema("Takes", tool.definition.get("inputSchema")))
                    (run_form(request, tool, &sample_input(&tool.definition["inputSchema"])))
                }
            }
        }
    }
}

/// The name of a tool with its description; a long one continues below.
fn summary(name: &str, description: &str) -> Markup {
    let short = truncate(&one_line(description), SUMMARY_CHARS);
    html! {
        summary { code { (name) } " " span class="muted" { (with_code(&short)) } }
        @if short.ends_with('…') { p { (with_code(description)) } }
    }
}

/// A contract, as it is written.
pub(super) fn schema(title: &str, schema: Option<&Value>) -> Markup {
    html! {
        @if let Some(schema) = schema.filter(|schema| !schema.is_null()) {
            h3 { (title) }
            (code_block(&truncate(&format!("{schema:#}"), 8000)))
        }
    }
}

/// A form that runs a tool, with initial arguments. A confirmation is asked for here too.
pub(super) fn run_form(request: &PageRequest, tool: &ToolDescriptor, input: &str) -> Markup {
    html! {
        form class="run" method="post" action="/run" {
            (layout::form_key(request))
            input type="hidden" name="tool" value=(tool.name);
            label { "Arguments, as JSON" textarea name="input" rows="3" spellcheck="false" { (input) } }
            button class="primary" { "Run " (tool.tool) }
        }
    }
}

/// Initial arguments: the required ones.
fn sample_input(schema: &Value) -> String {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| {
        let own = &schema["properties"][name];
        let first = own.get("default").or_else(|| own["enum"].get(0));
        first.cloned().unwrap_or_else(|| match own["type"].as_str() {
            Some("integer" | "number") => 0.into(),
            Some("boolean") => false.into(),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Value::Object(serde_json::Map::new()),
            _ => "".into(),
        })
    };
    let object: serde_json::Map<String, Value> = required.map(|name| (name.to_owned(), value(name))).collect();
    if object.is_empty() { "{}".to_owned() } else { format!("{:#}", Value::Object(object)) }
}

fn costs(dossier: &Dossier) -> Markup {
    let cost = &dossier.footprint;
    let bar = |label: &str, value: usize, colour, note: &str| Bar {
        label: html! { (label) },
        parts: vec![(value, colour)],
        note: note.to_owned(),
    };
    let tiers = [
        bar("Catalogue", cost.catalogue, "one", "always in context"),
        bar("Activation", cost.activation.unwrap_or(0), "two", "when it is used"),
        bar("Resources", cost.resources, "three", "when they are read"),
    ];
    let sections: Vec<Bar> = cost.sections.iter().map(|(name, tokens)| bar(name, *tokens, "four", "")).collect();
    html! {
        section class="card" {
            h2 { "Cost" }
            p class="muted" { "Tokens by " (cost.tokenizer) ", exactly." }
            (chart::bars(&tiers, "tokens"))
            @if let Some(origin) = cost.structure.filter(|_| !sections.is_empty()) {
                details {
                    summary { "One section, by a query (" (origin.name()) ")" }
                    (chart::bars(&sections, "tokens"))
                }
            }
        }
    }
}

/// What a skill's tools may do in this workspace: the same lines as `rep policy`, and which files they match now.
fn policy_lines(runtime: &Runtime, entry: &CatalogEntry) -> Result<Vec<PolicyLine>, CallError> {
    let skill = ExecutableSkill::inspect(entry)?;
    Ok(runtime.policy_of(&skill, None)?.lines(&runtime.matching_files(&skill)?))
}

fn permissions(request: &PageRequest, entry: &CatalogEntry, dossier: &Dossier) -> Markup {
    let has_tools = !dossier.tools.tools.is_empty();
    let has_commands = !has_tools && !callable_tools(request, entry).is_empty();
    let allowed = &dossier.allowed_tools;
    html! {
        section class="card" {
            h2 { "Permissions" }
            @if has_tools {
                @match policy_lines(request.dashboard.server.runtime(), entry) {
                    Ok(lines) => (policy(&lines)),
                    Err(error) => (layout::alert(&error.message)),
                }
            }
            @if !allowed.is_empty() {
                p { "It wants these tools of its host: " (truncate(&allowed.join(", "), 600)) }
            }
            @if has_commands {
                p class="muted" {
                    "What one of its commands may do is worked out for every run, and asked first where that needs consent."
                }
            }
            @if !has_tools && !has_commands && allowed.is_empty() {
                p class="muted" { "It has no tools, so that nothing of it runs here." }
            }
        }
    }
}

/// The lines of a policy. The first heading is the skill's own name, which the page has already.
fn policy(lines: &[PolicyLine]) -> Markup {
    let lines = match lines {
        [PolicyLine::Heading(_), rest @ ..] => rest,
        all => all,
    };
    let is_heading = |line: &PolicyLine| matches!(line, PolicyLine::Heading(_));
    let groups = lines.chunk_by(|_, next| !is_heading(next));
    html! {
        @for group in groups {
            @for line in group { @if let PolicyLine::Heading(name) = line { h3 { code { (name) } } } }
            ul class="words" {
                @for line in group { @if let PolicyLine::Detail(text) = line { li { (with_code(text)) } } }
            }
        }
    }
}

fn dependencies(request: &PageRequest, entry: &CatalogEntry) -> Markup {
    html! {
        @if !entry.dependencies.is_empty() {
            section class="card" {
                h2 { "Needs" }
                ul {
                    @for needed in &entry.dependencies {
                        @let is_met = needed.state == DependencyState::Met;
                        li {
                            @match needed.entry {
                                Some(index) => {
                                    a href=(layout::address(&request.view.catalog, index)) { bdi { (needed.id) } }
                                }
                                None => { bdi { (needed.id) } }
                            }
                            " " (layout::pill(if is_met { "active" } else { "invalid" }, needed.state.name()))
                        }
                    }
                }
            }
        }
    }
}

fn provenance(entry: &CatalogEntry, dossier: &Dossier) -> Markup {
    let own = &dossier.provenance;
    let dialects: Vec<&str> = dossier.dialects.iter().map(|dialect| dialect.name()).collect();
    let callers = match (dossier.is_model_invocable, entry.is_user_invocable) {
        (true, true) => "models and people",
        (true, false) => "models only",
        (false, true) => "people only",
        (false, false) => "nobody",
    };
    let location = entry.location.to_string_lossy();
    let dialects = dialects.join(", ");
    let rows = [
        ("Version", own.version.as_deref()),
        ("Author", own.author.as_deref()),
        ("License", own.license.as_deref()),
        ("Dialects", Some(dialects.as_str())),
        ("At", Some(location.as_ref())),
        ("Digest", own.digest.as_deref()),
        ("Called by", Some(callers)),
    ];
    html! {
        section class="card" {
            h2 { "Provenance" }
            dl class="facts" {
                @for (name, value) in rows {
                    @if let Some(value) = value.filter(|value| !value.is_empty()) { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}

fn files(request: &PageRequest, index: usize, dossier: &Dossier) -> Markup {
    let address = layout::address(&request.view.catalog, index);
    let cost = |file: &FileEntry| match file.tokens {
        Some(tokens) => format!("{} tokens", grouped(tokens)),
        None => file.form.name().to_owned(),
    };
    let rest = dossier.files.len().saturating_sub(FILES_MAX);
    html! {
        section class="card" {
            h2 { "Files " span class="number" { (grouped(dossier.files.len())) } }
            ul class="files" {
                @for file in dossier.files.iter().take(FILES_MAX) {
                    li {
                        a href={ (address) "&file=" (encode(&file.path)) } { bdi { (file.path) } }
                        span class="muted" {
                            (file.size_bytes.map_or_else(String::new, byte_size)) " · " (cost(file))
                            @if file.is_executable { " · executable" }
                        }
                    }
                }
                @if rest > 0 { li { "… and " (grouped(rest)) " more" } }
            }
        }
    }
}

/// A size for people.
fn byte_size(size: u64) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KiB", size.div_ceil(1024)),
        _ => format!("{} MiB", size.div_ceil(1_048_576)),
    }
}

/// The other skills with the same name.
fn copies(request: &PageRequest, index: usize) -> Markup {
    let catalog = &request.view.catalog;
    let name = &catalog.entries[index].qualified_name;
    let first = catalog.entries.partition_point(|entry| entry.qualified_name < *name);
    let count = catalog.entries[first..].iter().take_while(|entry| entry.qualified_name == *name).count();
    html! {
        @if count > 1 {
            section class="card" {
                h2 { (counted(count, "skill")) " of this name" }
                ul {
                    @for other in first..first + count {
                        @let entry = &catalog.entries[other];
                        li {
                            @if other == index {
                                "this one"
                            } @else {
                                a href=(layout::address(catalog, other)) { (entry.scope.name()) }
                            }
                            " " (layout::status(entry.status)) " "
                            span class="place" { (entry.folder.to_string_lossy()) }
                        }
                    }
                }
            }
        }
    }
}

/// One file of a skill, as text.
fn render_file(request: &PageRequest, index: usize, entry: &CatalogEntry, path: &str) -> PageResponse {
    let missing = || PageResponse::Missing(format!("The skill shows no file “{path}”."));
    if !matches!(entry.status, Status::Active | Status::Hidden | Status::Shadowed | Status::Disabled) {
        return missing();
    }
    let Ok(Some(bytes)) = read_file(entry, path) else { return missing() };
    let body = html! {
        nav class="trail" aria-label="Breadcrumb" {
            a href="/" { "Library" } " / " (layout::skill_link(&request.view.catalog, index))
        }
        div class="title" { h1 { bdi { (path) } } }
        @match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => {
                pre class="file" tabindex="0" { code { (truncate(text, FILE_CHARS_MAX)) } }
            }
            _ => { p class="muted" { "This file is not text: " (grouped(bytes.len())) " bytes." } }
        }
    };
    PageResponse::Page(Location::Library, path.to_owned(), body)
}
