//! The page of a skill.

use maud::{Markup, html};
use rep_check::Level;
use rep_library::scan::ScannedSkill;
use rep_library::skill_details::{FileEntry, SkillDetails};
use rep_library::{CatalogEntry, DependencyState, SkillStatus, prompt};
use rep_mcp::{collapse_whitespace, main_file_uri, read_file};
use rep_model::provenance::DeclaredProvenance;
use rep_runtime::{CallError, ExecutableSkill, PolicyLine, Runtime, ToolDescriptor, ToolFault, ToolKind};
use serde_json::Value;

use super::chart::{self, ChartBar};
use super::fields::{FormFields, encode_query_value};
use super::html::{
    format_byte_size, format_count, group_thousands, render_code_block, render_inline_code, render_time,
    truncate_at_word,
};
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse, argument_form, findings, graph, library, markdown, runs};

/// The maximum shown size of a file, and the maximum numbers of shown files, findings and tools.
const FILE_CHARS_MAX: usize = 256 << 10;
const FILES_MAX: usize = 300;
const FINDINGS_MAX: usize = 100;
const TOOLS_MAX: usize = 100;
/// The maximum length of the description next to a tool's name.
const SUMMARY_CHARS_MAX: usize = 140;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let Some((index, entry)) = layout::find_entry(request) else {
        return PageResponse::Missing(format!("The skill “{}” does not exist.", request.fields.get("name")));
    };
    if let Some(path) = request.fields.non_empty("file") {
        return render_file(request, index, entry, path);
    }
    let is_withheld = layout::is_withheld(request, entry);
    let body = html! {
        (render_heading(request, entry, is_withheld))
        @if is_withheld {
            section class="card" {
                h2 { "Untrusted" }
                p {
                    "Its text is not shown and its tools do not run until you trust it. Review its directory, then run "
                    code { "rep trust" } "."
                }
                (render_copies(request, index))
            }
            @if let Ok(dossier) = SkillDetails::load(entry) { (render_scan(&dossier.scan())) }
        } @else {
            @match SkillDetails::load(entry) {
                Ok(dossier) => (render_details(request, index, entry, &dossier)),
                Err(error) => (layout::render_alert(&error.to_string())),
            }
        }
    };
    PageResponse::Page(PageLocation::Library, entry.qualified_name.clone(), body)
}

fn render_heading(request: &PageRequest, entry: &CatalogEntry, is_withheld: bool) -> Markup {
    html! {
        nav class="trail" aria-label="Breadcrumb" { a href="/" { "Library" } }
        div class="title" {
            h1 { bdi { (truncate_at_word(&entry.qualified_name, 120)) } }
            p class="marks" { (layout::render_status(entry.status)) " " span class="chip" { (entry.scope.name()) } }
        }
        @if !entry.reason.is_empty() {
            p class="alert" {
                (library::render_reason(request, entry))
                @if let Some(remedy) = entry.suggest_remedy() {
                    br;
                    b { "Remedy:" } " " (render_inline_code(&remedy))
                }
            }
        }
        @if !is_withheld { p class="lead" { (entry.description) } }
    }
}

fn render_details(request: &PageRequest, index: usize, entry: &CatalogEntry, dossier: &SkillDetails) -> Markup {
    html! {
        div class="columns" {
            div class="main" {
                (render_findings(request, entry))
                (render_tools(request, entry, dossier))
                (graph::render_neighbourhood(request, index))
                section class="card body" aria-labelledby="instructions" {
                    h2 id="instructions" { "Instructions" }
                    (render_instructions(request, index, entry))
                }
            }
            div class="side" {
                (render_client_names(request, index, entry))
                (render_usage(request, entry))
                (render_costs(dossier))
                (render_permissions(request, entry, dossier))
                (render_scan(&dossier.scan()))
                (render_dependencies(request, entry))
                (render_provenance(entry, dossier))
                (render_files(request, index, dossier))
                (render_copies(request, index))
            }
        }
    }
}

/// Renders the names by which clients get the skill and call its tools.
fn render_client_names(request: &PageRequest, index: usize, entry: &CatalogEntry) -> Markup {
    if entry.status != SkillStatus::Active {
        return Markup::default();
    }
    let callable = callable_tools(request, entry);
    html! {
        section class="card" {
            h2 { "For clients" }
            @if let Some(reason) = layout::unserved_reason(request, index) {
                p class="why" {
                    "Not in " code { "skills/list" } ": " (render_inline_code(&truncate_at_word(reason, 300)))
                    ". Clients can still load it by name."
                }
            }
            p class="muted" { "The address of its instructions:" }
            (layout::render_copyable(&main_file_uri(entry)))
            @if !callable.is_empty() {
                p class="muted" { "Its tools:" }
                @for tool in callable.iter().take(TOOLS_MAX) { (layout::render_copyable(&tool.name)) }
            } @else if !request.dashboard.server.allows_runs() {
                p class="muted" { "Clients cannot run its tools: this server runs none. Start it with " code { "--allow-run" } "." }
            }
        }
    }
}

/// Renders who used the skill last, and when.
fn render_usage(request: &PageRequest, entry: &CatalogEntry) -> Markup {
    let runtime = request.dashboard.server.runtime();
    let usage = request.dashboard.usage.find_usage(runtime, &entry.qualified_name);
    let address = format!("/audit?skill={}", encode_query_value(&entry.qualified_name));
    html! {
        section class="card" {
            h2 { "Use" }
            @if usage.recent.is_empty() {
                p class="muted" { "Nobody has used this skill as far as it is recorded." }
            } @else {
                ul class="uses" {
                    @for used in usage.recent.iter().rev() {
                        li {
                            b { bdi { (truncate_at_word(&used.what, 80)) } } " "
                            @if !matches!(used.outcome.as_str(), "ok" | "started") {
                                (layout::render_pill("untrusted", &truncate_at_word(&used.outcome, 40))) " "
                            }
                            span class="muted" { (render_time(&used.at)) " · " (runs::render_client(&used.who)) }
                        }
                    }
                }
                p {
                    (format_count(usage.count, "use")) " recorded: "
                    a href=(address) { "runs" } ", " a href={ (address) "&calls=1" } { "calls" }
                }
            }
        }
    }
}

fn render_instructions(request: &PageRequest, index: usize, entry: &CatalogEntry) -> Markup {
    let is_shown = matches!(
        entry.status,
        SkillStatus::Active | SkillStatus::Hidden | SkillStatus::Shadowed | SkillStatus::Disabled
    );
    match prompt::read_body(entry) {
        Ok(text) if is_shown => {
            let is_markdown = entry.location.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
            if is_markdown {
                markdown::render_body(&text, &format!("{}&file=", layout::skill_address(&request.view.catalog, index)))
            } else {
                render_code_block(&truncate_at_word(&text, FILE_CHARS_MAX))
            }
        }
        Ok(_) => html! { p class="muted" { "The text is not shown because the skill cannot be loaded." } },
        Err(error) => layout::render_alert(&error.to_string()),
    }
}

/// Renders the findings of `rep check`.
fn render_findings(request: &PageRequest, entry: &CatalogEntry) -> Markup {
    let project = request.dashboard.server.runtime().options().library.project.as_deref();
    let found = match findings::check_skill(entry, project) {
        Ok(found) => found,
        Err(error) => {
            return html! { section class="card" { h2 { "Findings" } (layout::render_alert(&error.to_string())) } };
        }
    };
    if found.is_empty() {
        return html! {
            p class="alert good" { "No findings: " code { "rep check" } " found no problems." }
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
                        p { (layout::render_pill(level, level)) " " (render_inline_code(&finding.message)) }
                        p class="place" { code { (place.file) ":" (place.start.line) } " · " (finding.rule.name) }
                        @if !place.excerpt.is_empty() {
                            (render_code_block(&format!("{} │ {}", place.start.line, truncate_at_word(&place.excerpt, 300))))
                        }
                        @if !finding.help.is_empty() { p class="help" { b { "Fix:" } " " (render_inline_code(&finding.help)) } }
                        @if finding.has_safe_fix() { p class="help" { "Fixable with " code { "rep check --fix" } "." } }
                    }
                }
                @if rest > 0 { li { "… and " (rest) " more" } }
            }
        }
    }
}

/// Returns the tools of a skill that may run on this server.
fn callable_tools<'a>(request: &'a PageRequest, entry: &CatalogEntry) -> Vec<&'a ToolDescriptor> {
    let is_own = |tool: &&ToolDescriptor| entry.status == SkillStatus::Active && tool.skill == entry.qualified_name;
    request.view.tools().iter().filter(is_own).collect()
}

fn render_tools(request: &PageRequest, entry: &CatalogEntry, dossier: &SkillDetails) -> Markup {
    let callable = callable_tools(request, entry);
    let declared = &dossier.tools.tools;
    let is_own = |fault: &&ToolFault| entry.status == SkillStatus::Active && fault.skill == entry.qualified_name;
    let faults: Vec<&ToolFault> = request.view.tool_faults().iter().filter(is_own).collect();
    if declared.is_empty() && callable.is_empty() && faults.is_empty() {
        return Markup::default();
    }
    html! {
        section class="card" {
            h2 { "Tools" }
            @if dossier.tools.stale { p class="why" { "tools.json is out of date." } }
            @for fault in faults.iter().take(TOOLS_MAX) {
                p class="why" {
                    @if !fault.tool.is_empty() { code { (fault.tool) } " " }
                    "is not available to clients: " (render_inline_code(&fault.message))
                }
            }
            @for (number, tool) in declared.iter().enumerate().take(TOOLS_MAX) {
                @let text = |path: &str| tool.pointer(path).and_then(Value::as_str).unwrap_or_default();
                @let is_same = |other: &&&ToolDescriptor| other.kind == ToolKind::Tool && other.tool == text("/name");
                details class="tool" {
                    (render_tool_summary(text("/name"), text("/description")))
                    p class="place" { (text("/implementation/runtime")) " " (text("/implementation/entrypoint")) }
                    @if let Some(tool) = callable.iter().find(is_same) {
                        (render_run_form(request, tool, &format!("tool-{number}"), None))
                    }
                    (render_schemas(tool.get("input_schema"), tool.get("output_schema")))
                }
            }
            @let commands = callable.iter().filter(|tool| tool.kind == ToolKind::Command);
            @for (number, tool) in commands.enumerate().take(TOOLS_MAX) {
                @let description = tool.definition.get("description").and_then(Value::as_str).unwrap_or_default();
                details class="tool" {
                    (render_tool_summary(&tool.tool, description))
                    p class="place" { "command" }
                    (render_run_form(request, tool, &format!("command-{number}"), None))
                    (render_schemas(tool.definition.get("inputSchema"), None))
                }
            }
        }
    }
}

/// Renders the name of a tool with its description. A long description continues below.
fn render_tool_summary(name: &str, description: &str) -> Markup {
    let short = truncate_at_word(&collapse_whitespace(description), SUMMARY_CHARS_MAX);
    html! {
        summary { code { (name) } " " span class="muted" { (render_inline_code(&short)) } }
        @if short.ends_with('…') { p { (render_inline_code(description)) } }
    }
}

/// Renders the schemas of a tool.
pub(super) fn render_schemas(input: Option<&Value>, output: Option<&Value>) -> Markup {
    let schemas =
        [("Input", input), ("Output", output)].map(|(title, schema)| (title, schema.filter(|it| !it.is_null())));
    html! {
        @if schemas.iter().any(|(_, schema)| schema.is_some()) {
            details {
                summary { "Schemas" }
                @for (title, schema) in schemas {
                    @if let Some(schema) = schema {
                        h3 { (title) }
                        (render_code_block(&truncate_at_word(&format!("{schema:#}"), 8000)))
                    }
                }
            }
        }
    }
}

/// Renders forms that run a tool: with a field for every argument, and with all arguments as JSON. `id` distinguishes
/// forms on a page; `given` has what was entered before. Confirmations are also shown in the dashboard.
pub(super) fn render_run_form(
    request: &PageRequest,
    tool: &ToolDescriptor,
    id: &str,
    given: Option<&FormFields>,
) -> Markup {
    let schema = &tool.definition["inputSchema"];
    let fields = argument_form::render_fields(id, schema, given);
    let written = given.map(|given| given.get("input")).filter(|text| !text.is_empty());
    let json_form = html! {
        form class="run" method="post" action="/run" {
            (layout::render_form_key(request))
            input type="hidden" name="tool" value=(tool.name);
            label {
                "Arguments, as JSON"
                textarea name="input" rows="3" spellcheck="false" {
                    (written.map_or_else(|| sample_input(schema), str::to_owned))
                }
            }
            button class="primary" { "Run " (tool.tool) @if fields.is_some() { " with JSON" } }
        }
    };
    html! {
        @match fields {
            None => (json_form),
            Some(fields) => {
                form class="run" method="post" action="/run" {
                    (layout::render_form_key(request))
                    input type="hidden" name="tool" value=(tool.name);
                    input type="hidden" name="form" value="fields";
                    (fields)
                    button class="primary" { "Run " (tool.tool) }
                }
                details open[written.is_some()] { summary { "Arguments as JSON" } (json_form) }
            }
        }
    }
}

/// Returns initial arguments that contain the required properties.
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

fn render_costs(dossier: &SkillDetails) -> Markup {
    let cost = &dossier.footprint;
    let bar = |label: &str, value: usize, colour, note: &str| ChartBar {
        label: html! { (label) },
        parts: vec![(value, colour)],
        note: note.to_owned(),
    };
    let tiers = [
        bar("Catalog", cost.catalogue, "one", "always in context"),
        bar("Activation", cost.activation.unwrap_or(0), "two", "when the skill is used"),
        bar("Resources", cost.resources, "three", "when the files are read"),
    ];
    let sections: Vec<ChartBar> = cost.sections.iter().map(|(name, tokens)| bar(name, *tokens, "four", "")).collect();
    html! {
        section class="card" {
            h2 { "Cost" }
            p class="muted" { "Counted with " (cost.tokenizer) "." }
            (chart::render_bars(&tiers, "tokens"))
            @if let Some(origin) = cost.structure.filter(|_| !sections.is_empty()) {
                details {
                    summary { "Single sections, by query (" (origin.name()) ")" }
                    (chart::render_bars(&sections, "tokens"))
                }
            }
        }
    }
}

/// Returns the permissions of a skill's tools in this workspace: the lines of `rep policy`, and the files that match.
fn policy_lines(runtime: &Runtime, entry: &CatalogEntry) -> Result<Vec<PolicyLine>, CallError> {
    let skill = ExecutableSkill::inspect(entry)?;
    Ok(runtime.report_policy(&skill, None)?.render_lines(&runtime.matching_files(&skill)?))
}

/// Renders what the code of a skill does, in words. A skill that is not trusted is described too, because this helps to
/// decide about it.
fn render_scan(scan: &ScannedSkill) -> Markup {
    let lines = scan.describe();
    html! {
        section class="card" {
            h2 { "What its code does" }
            p { "The scan says: " b { (scan.verdict().name()) } "." }
            @if lines.is_empty() {
                p class="muted" { "The scan found no code that uses files, hosts, programs or variables." }
            } @else {
                ul { @for line in &lines { li { (render_inline_code(&truncate_at_word(line, 600))) } } }
            }
            @let dangerous: Vec<_> = scan.findings.iter().filter(|finding| finding.level != Level::Info).collect();
            @if !dangerous.is_empty() {
                ul class="alert" {
                    @for finding in dangerous.iter().take(FINDINGS_MAX) {
                        li {
                            (finding.level.name()) ": " (render_inline_code(&truncate_at_word(&finding.message, 300)))
                            " (" (finding.place.file) ")"
                        }
                    }
                }
            }
        }
    }
}

fn render_permissions(request: &PageRequest, entry: &CatalogEntry, dossier: &SkillDetails) -> Markup {
    let has_tools = !dossier.tools.tools.is_empty();
    let has_commands = !has_tools && !callable_tools(request, entry).is_empty();
    let allowed = &dossier.allowed_tools;
    html! {
        section class="card" {
            h2 { "Permissions" }
            @if has_tools {
                @match policy_lines(request.dashboard.server.runtime(), entry) {
                    Ok(lines) => (render_policy(&lines)),
                    Err(error) => (layout::render_alert(&error.message)),
                }
            }
            @if !allowed.is_empty() {
                p { "It uses these tools of the host: " (truncate_at_word(&allowed.join(", "), 600)) }
            }
            @if has_commands {
                p class="muted" {
                    "The permissions of its commands are computed for every run. Runs that need confirmation ask first."
                }
            }
            @if !has_tools && !has_commands && allowed.is_empty() {
                p class="muted" { "This skill has no tools to run." }
            }
        }
    }
}

/// Renders the lines of a policy without the first heading, the skill's name, which the page already has. Lines that
/// several tools share are rendered once.
fn render_policy(lines: &[PolicyLine]) -> Markup {
    let lines = match lines {
        [PolicyLine::Heading(_), rest @ ..] => rest,
        all => all,
    };
    let is_heading = |line: &PolicyLine| matches!(line, PolicyLine::Heading(_));
    // The headings of the tools that have the same lines.
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for group in lines.chunk_by(|_, next| !is_heading(next)) {
        let mut headings = Vec::new();
        let mut details = Vec::new();
        for line in group {
            match line {
                PolicyLine::Heading(name) => headings.push(name.as_str()),
                PolicyLine::Detail(text) => details.push(text.as_str()),
            }
        }
        match groups.iter_mut().find(|(own, same)| !own.is_empty() && !headings.is_empty() && *same == details) {
            Some((own, _)) => own.extend(headings),
            None => groups.push((headings, details)),
        }
    }
    html! {
        @for (headings, details) in &groups {
            @if !headings.is_empty() {
                h3 { @for (number, name) in headings.iter().enumerate() { @if number > 0 { ", " } code { (name) } } }
            }
            ul class="words" { @for text in details { li { (render_inline_code(text)) } } }
        }
    }
}

fn render_dependencies(request: &PageRequest, entry: &CatalogEntry) -> Markup {
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
                                    a href=(layout::skill_address(&request.view.catalog, index)) { bdi { (needed.id) } }
                                }
                                None => { bdi { (needed.id) } }
                            }
                            " " (layout::render_pill(if is_met { "active" } else { "invalid" }, needed.state.name()))
                        }
                    }
                }
            }
        }
    }
}

fn render_provenance(entry: &CatalogEntry, dossier: &SkillDetails) -> Markup {
    let own = &dossier.provenance;
    let dialects: Vec<&str> = dossier.dialects.iter().map(|dialect| dialect.name()).collect();
    let callers = match (dossier.is_model_invocable, entry.is_user_invocable) {
        (true, true) => "models and users",
        (true, false) => "models only",
        (false, true) => "users only",
        (false, false) => "no one",
    };
    let location = entry.location.to_string_lossy();
    let dialects = dialects.join(", ");
    let rows = [
        ("Version", own.version.as_deref()),
        ("Author", own.author.as_deref()),
        ("License", own.license.as_deref()),
        ("Dialects", Some(dialects.as_str())),
        ("Location", Some(location.as_ref())),
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
                @for (field, value) in own.declared.iter().flat_map(DeclaredProvenance::rows) {
                    dt { (provenance_label(field)) } dd { bdi { (value) } }
                }
            }
        }
    }
}

/// Returns the label of a field of the declared provenance.
fn provenance_label(field: &str) -> &str {
    match field {
        "source_repo" => "Repository",
        "source_commit" => "Commit",
        "reviewed_by" => "Reviewed by",
        "signature" => "Signature (not verified)",
        other => other,
    }
}

fn render_files(request: &PageRequest, index: usize, dossier: &SkillDetails) -> Markup {
    let address = layout::skill_address(&request.view.catalog, index);
    let cost = |file: &FileEntry| match file.tokens {
        Some(tokens) => format!("{} tokens", group_thousands(tokens)),
        None => file.form.name().to_owned(),
    };
    let rest = dossier.files.len().saturating_sub(FILES_MAX);
    html! {
        section class="card" {
            h2 { "Files " span class="number" { (group_thousands(dossier.files.len())) } }
            ul class="files" {
                @for file in dossier.files.iter().take(FILES_MAX) {
                    li {
                        a href={ (address) "&file=" (encode_query_value(&file.path)) } { bdi { (file.path) } }
                        span class="muted" {
                            (file.size_bytes.map_or_else(String::new, format_byte_size)) " · " (cost(file))
                            @if file.is_executable { " · executable" }
                        }
                    }
                }
                @if rest > 0 { li { "… and " (group_thousands(rest)) " more" } }
            }
        }
    }
}

/// Renders the other skills with the same name.
fn render_copies(request: &PageRequest, index: usize) -> Markup {
    let catalog = &request.view.catalog;
    let name = &catalog.entries[index].qualified_name;
    let first = catalog.entries.partition_point(|entry| entry.qualified_name < *name);
    let count = catalog.entries[first..].iter().take_while(|entry| entry.qualified_name == *name).count();
    html! {
        @if count > 1 {
            section class="card" {
                h2 { (format_count(count, "skill")) " with this name" }
                ul {
                    @for other in first..first + count {
                        @let entry = &catalog.entries[other];
                        li {
                            @if other == index {
                                "this one"
                            } @else {
                                a href=(layout::skill_address(catalog, other)) { (entry.scope.name()) }
                            }
                            " " (layout::render_status(entry.status)) " "
                            span class="place" { (entry.folder.to_string_lossy()) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders a file of a skill as text.
fn render_file(request: &PageRequest, index: usize, entry: &CatalogEntry, path: &str) -> PageResponse {
    let missing = || PageResponse::Missing(format!("The file “{path}” does not exist or cannot be shown."));
    if !matches!(
        entry.status,
        SkillStatus::Active | SkillStatus::Hidden | SkillStatus::Shadowed | SkillStatus::Disabled
    ) {
        return missing();
    }
    let Ok(Some(bytes)) = read_file(entry, path) else { return missing() };
    let body = html! {
        nav class="trail" aria-label="Breadcrumb" {
            a href="/" { "Library" } " / " (layout::render_skill_link(&request.view.catalog, index))
        }
        div class="title" { h1 { bdi { (path) } } }
        @match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => {
                pre class="file" tabindex="0" { code { (truncate_at_word(text, FILE_CHARS_MAX)) } }
            }
            _ => { p class="muted" { "This file is not text: " (group_thousands(bytes.len())) " bytes." } }
        }
    };
    PageResponse::Page(PageLocation::Library, path.to_owned(), body)
}
