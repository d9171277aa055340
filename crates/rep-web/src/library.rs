//! The library page: all skills with their status, findings and cost, as cards or as a table, and a search that updates
//! while typing.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use rep_library::{CatalogEntry, Scope, SkillStatus};
use rep_mcp::collapse_whitespace;

use super::html::{format_count, group_thousands, render_inline_code, truncate_at_word};
use super::inspection::{InspectedLibrary, InspectedSkill};
use super::layout::{self, PageLocation};
use super::library_query::{CONTENT_FILTERS, FINDING_FILTERS, LibraryOrder, LibraryQuery, ListedSkill, NOT_LISTED};
use super::{PageRequest, PageResponse, library_table};

/// The number of skills on a page of cards, and of a table.
const PAGE_CARDS_MAX: usize = 40;
const PAGE_ROWS_MAX: usize = 100;
/// The maximum length of a shown description.
const DESCRIPTION_CHARS_MAX: usize = 220;
/// The maximum number of shown notes and faults, of tags of a skill, and of tags in the filter.
const NOTES_MAX: usize = 20;
const TAGS_MAX: usize = 6;
const TAG_OPTIONS_MAX: usize = 200;

const STATUSES: [SkillStatus; 6] = [
    SkillStatus::Active,
    SkillStatus::Hidden,
    SkillStatus::Shadowed,
    SkillStatus::Untrusted,
    SkillStatus::Invalid,
    SkillStatus::Disabled,
];
const SCOPES: [Scope; 4] = [Scope::Managed, Scope::Project, Scope::Personal, Scope::Package];

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    request.dashboard.prepare_search(&request.view);
    let query = LibraryQuery::parse(&request.fields);
    let inspected = request.dashboard.inspections.inspect(request);
    let entries = &request.view.catalog.entries;
    if request.is_part() {
        return PageResponse::Part(render_list(request, &query, &inspected));
    }
    let scopes = entries.iter().map(|entry| entry.scope).collect::<BTreeSet<_>>().len();
    let notes = &request.view.catalog.notes;
    let body = html! {
        div class="title" {
            h1 { "Library" }
            p class="lead" { (format_count(entries.len(), "skill")) " in " (format_count(scopes, "scope")) }
        }
        @if entries.is_empty() {
            (render_empty_library(request))
        } @else {
            (render_tiles(request, &query, &inspected))
            (render_search_form(request, &query))
            p class="unseen" id="list-found" role="status" {}
            div id="list" { (render_list(request, &query, &inspected)) }
        }
        @if !notes.is_empty() {
            section class="card" {
                h2 { "Skipped" }
                ul { @for note in notes.iter().take(NOTES_MAX) { li { (note) } } }
            }
        }
        (render_tool_faults(request))
    };
    PageResponse::Page(PageLocation::Library, "Library".to_owned(), body)
}

/// Explains how to get skills.
fn render_empty_library(request: &PageRequest) -> Markup {
    let roots = &request.view.catalog.roots;
    let step = |title: &str, command: &str, about: Markup| {
        html! {
            li {
                h3 { (title) }
                (layout::render_copyable(command))
                p class="muted" { (about) }
            }
        }
    };
    html! {
        section class="card" {
            h2 { "No skills found" }
            p {
                "A skill is a directory with a " code { "SKILL.md" } " file that tells an agent how to do a task. The page "
                "shows skills as soon as they exist; you need not restart the server."
            }
            ol class="plain steps" {
                (step("Write one", "rep init my-skill", html! { "Creates a skill that passes " code { "rep check" } "." }))
                (step("Install some", "rep install SOURCE", html! {
                    "From a directory, an archive, a Git repository or another server, after a check of their content."
                }))
                (step("Serve a directory", "rep serve --http --path FOLDER", html! {
                    "Serves the skills below a directory instead of those of the project."
                }))
            }
        }
        @if !roots.is_empty() {
            section class="card" {
                h2 { "Searched directories" }
                ul class="words" {
                    @for root in roots.iter().take(NOTES_MAX) {
                        li { code { (root.path.to_string_lossy()) } " " span class="chip" { (root.scope.name()) } }
                    }
                }
            }
        }
    }
}

/// Renders the permitted tools that are not available to clients, with the reason.
fn render_tool_faults(request: &PageRequest) -> Markup {
    let faults = request.view.tool_faults();
    let rest = faults.len().saturating_sub(NOTES_MAX);
    html! {
        @if !faults.is_empty() {
            section class="card" {
                h2 { "Unavailable tools" }
                ul {
                    @for fault in faults.iter().take(NOTES_MAX) {
                        li {
                            code { (fault.skill) @if !fault.tool.is_empty() { ":" (fault.tool) } } ": "
                            (render_inline_code(&fault.message))
                        }
                    }
                    @if rest > 0 { li { "… and " (rest) " more" } }
                }
            }
        }
    }
}

/// Renders the number of skills for each status, and of those with findings.
fn render_tiles(request: &PageRequest, query: &LibraryQuery, inspected: &InspectedLibrary) -> Markup {
    let entries = &request.view.catalog.entries;
    let count_status = |status: SkillStatus| entries.iter().filter(|entry| entry.status == status).count();
    let count_known = |is_wanted: fn(InspectedSkill) -> bool| {
        (0..entries.len()).filter_map(|index| inspected.get(index)).filter(|skill| is_wanted(*skill)).count()
    };
    let tile = |filter: &str, value: &str, colour: &str, count: usize, title: &str| {
        let is_current = query.get(filter) == value;
        html! {
            li {
                a class={ "tile " (colour) } title=(title)
                    href=(query.address(&[(filter, if is_current { "" } else { value })]))
                    aria-current=[is_current.then_some("true")] {
                    b { (group_thousands(count)) }
                    span { @if filter == "findings" { "with " } (value) }
                }
            }
        }
    };
    html! {
        ul class="tiles" aria-label="Skills by status and findings" {
            @for status in STATUSES {
                @let count = count_status(status);
                @if count > 0 || status == SkillStatus::Active {
                    (tile("status", status.name(), status.name(), count, layout::status_meaning(status)))
                }
            }
            @let unlisted = request.view.unserved_skills().iter().filter(|skill| skill.is_loadable).count();
            @if unlisted > 0 {
                @let inactive = entries.iter().filter(|entry| entry.status != SkillStatus::Active).count();
                (tile("status", NOT_LISTED, "warning", inactive + unlisted, "skills that clients cannot list, and why"))
            }
            @let errors = count_known(|skill| skill.errors > 0);
            @if errors > 0 { (tile("findings", "errors", "error", errors, "skills in which rep check finds errors")) }
            @let warnings = count_known(|skill| skill.warnings > 0);
            @if warnings > 0 {
                (tile("findings", "warnings", "warning", warnings, "skills in which rep check finds warnings"))
            }
        }
    }
}

/// Renders a labelled list of options, of which the first restricts nothing.
fn render_select(query: &LibraryQuery, name: &str, label: &str, first: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { (first) }
                @for (value, text) in options { option value=(value) selected[*value == query.get(name)] { (text) } }
            }
        }
    }
}

fn render_search_form(request: &PageRequest, query: &LibraryQuery) -> Markup {
    let same = |words: &[&'static str]| words.iter().map(|word| (*word, *word)).collect::<Vec<_>>();
    let mut statuses = same(&STATUSES.map(SkillStatus::name));
    statuses.push((NOT_LISTED, NOT_LISTED));
    let orders = LibraryOrder::ALL.map(|order| (order.name(), order.label()));
    let tags = list_tags(request);
    let tags: Vec<(&str, &str)> = tags.iter().map(|tag| (*tag, *tag)).collect();
    let findings = [("errors", "errors"), ("warnings", "warnings"), ("any", "any finding"), ("none", "no finding")];
    debug_assert!(findings.iter().map(|(value, _)| value).eq(FINDING_FILTERS.iter()));
    html! {
        form class="search" role="search" action="/" method="get" data-live="list" {
            div class="grow" {
                label for="q" { "Search" }
                input id="q" name="q" type="search" value=(query.get("q"))
                    placeholder="What should a skill be able to do?" autocomplete="off";
            }
            @if query.is_table { input type="hidden" name="view" value="table"; }
            @if query.is_reversed { input type="hidden" name="order" value="reverse"; }
            button class="primary" { "Search" }
            details class="filters" open[query.is_filtered() || query.order != LibraryOrder::Default] {
                summary { "Filter and sort" }
                div class="search" {
                    (render_select(query, "status", "Status", "all", &statuses))
                    (render_select(query, "findings", "Findings", "all", &findings))
                    (render_select(query, "has", "With", "all", &same(&CONTENT_FILTERS)))
                    (render_select(query, "scope", "Scope", "all", &same(&SCOPES.map(Scope::name))))
                    @if !tags.is_empty() { (render_select(query, "tag", "Tag", "all", &tags)) }
                    (render_select(query, "sort", "Sort by", LibraryOrder::Default.label(), &orders))
                }
            }
        }
    }
}

/// Lists the most frequent tags, sorted by name.
fn list_tags(request: &PageRequest) -> Vec<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in request.view.catalog.entries.iter().filter(|entry| !layout::is_withheld(request, entry)) {
        for tag in entry.tags() {
            *counts.entry(tag).or_default() += 1;
        }
    }
    let mut tags: Vec<(usize, &str)> = counts.into_iter().map(|(tag, count)| (count, tag)).collect();
    tags.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    tags.truncate(TAG_OPTIONS_MAX);
    let mut tags: Vec<&str> = tags.into_iter().map(|(_, tag)| tag).collect();
    tags.sort_unstable();
    tags
}

fn render_list(request: &PageRequest, query: &LibraryQuery, inspected: &InspectedLibrary) -> Markup {
    let all = query.find_skills(request, inspected);
    let page_skills = if query.is_table { PAGE_ROWS_MAX } else { PAGE_CARDS_MAX };
    let pages = all.len().div_ceil(page_skills).max(1);
    let page = request.fields.parse_number("page").unwrap_or(1).clamp(1, pages);
    let shown = all.iter().skip((page - 1) * page_skills).take(page_skills);
    html! {
        div class="listing" {
            p class="count" { (describe_result(query, all.len())) }
            nav class="kinds" aria-label="Form of the list" {
                a href=(query.address(&[("view", "")])) aria-current=[(!query.is_table).then_some("true")] { "Cards" }
                " "
                a href=(query.address(&[("view", "table")])) aria-current=[query.is_table.then_some("true")] { "Table" }
            }
        }
        @if inspected.remaining > 0 {
            p class="muted" data-poll {
                (format_count(inspected.remaining, "skill")) " still to be checked. Findings and tokens are incomplete."
            }
        }
        @if all.is_empty() {
            p { a class="button" href=(if query.is_table { "/?view=table" } else { "/" }) { "Show all skills" } }
        } @else if query.is_table {
            (library_table::render_table(request, query, inspected, shown))
        } @else {
            ol class="skills" {
                @for listed in shown { (render_list_item(request, query, listed, inspected.get(listed.index))) }
            }
        }
        (render_page_links(query, page, pages))
    }
}

fn describe_result(query: &LibraryQuery, count: usize) -> String {
    let text = query.get("q");
    let filters = if query.is_filtered() { " with these filters" } else { "" };
    let order = match query.order {
        LibraryOrder::Default if text.is_empty() => String::new(),
        order => format!(", {} first", if order == LibraryOrder::Default { "best" } else { describe_first(query) }),
    };
    match (count, text.is_empty()) {
        (0, true) => "No matching skills.".to_owned(),
        (0, false) => format!("No results for “{text}”{filters}."),
        (count, true) => format!("{}{filters}{order}", format_count(count, "skill")),
        (count, false) => format!("{} for “{text}”{filters}{order}", format_count(count, "skill")),
    }
}

/// Returns what comes first in the order.
fn describe_first(query: &LibraryQuery) -> &'static str {
    match (query.order, query.is_reversed) {
        (LibraryOrder::Default, _) => "best",
        (LibraryOrder::Name, false) => "A",
        (LibraryOrder::Name, true) => "Z",
        (LibraryOrder::Tokens, false) => "most expensive",
        (LibraryOrder::Tokens, true) => "cheapest",
        (LibraryOrder::Findings, false) => "most findings",
        (LibraryOrder::Findings, true) => "fewest findings",
        (LibraryOrder::LastUsed, false) => "last used",
        (LibraryOrder::LastUsed, true) => "longest unused",
    }
}

/// Renders the marks of a skill that differ from the usual: an active skill of the project needs none.
pub(super) fn render_marks(entry: &CatalogEntry, known: Option<InspectedSkill>) -> Markup {
    let known = known.unwrap_or_default();
    html! {
        @if entry.status != SkillStatus::Active { (layout::render_status(entry.status)) " " }
        (render_finding_marks(known))
        @if known.has_tools { span class="chip" title="declares tools that can be run" { "tools" } " " }
        @if known.has_scripts { span class="chip" title="bundles scripts" { "scripts" } " " }
        @if entry.scope != Scope::Project { span class="chip" { (entry.scope.name()) } }
    }
}

/// Renders the numbers of errors and warnings.
pub(super) fn render_finding_marks(known: InspectedSkill) -> Markup {
    html! {
        @if known.errors > 0 { (layout::render_pill("error", &format_count(known.errors, "error"))) " " }
        @if known.warnings > 0 { (layout::render_pill("warning", &format_count(known.warnings, "warning"))) " " }
    }
}

/// Renders the tags of a skill, which filter the list.
pub(super) fn render_tags(query: &LibraryQuery, entry: &CatalogEntry) -> Markup {
    html! {
        @for tag in entry.tags().into_iter().take(TAGS_MAX) {
            a class="chip tag" href=(query.address(&[("tag", tag)])) { bdi { (truncate_at_word(tag, 24)) } } " "
        }
    }
}

fn render_list_item(
    request: &PageRequest,
    query: &LibraryQuery,
    listed: &ListedSkill,
    known: Option<InspectedSkill>,
) -> Markup {
    let entry = &request.view.catalog.entries[listed.index];
    let is_withheld = layout::is_withheld(request, entry);
    let trouble =
        entry.dependencies.iter().filter(|_| !is_withheld).find_map(rep_library::Dependency::describe_problem);
    // Text of an untrusted skill is not shown.
    let description = if is_withheld { String::new() } else { collapse_whitespace(&entry.description) };
    html! {
        li {
            article class="skill" {
                h2 {
                    a href=(layout::skill_address(&request.view.catalog, listed.index)) {
                        bdi { (truncate_at_word(&entry.qualified_name, 80)) }
                    }
                }
                p class="about" { (truncate_at_word(&description, DESCRIPTION_CHARS_MAX)) }
                @if !entry.reason.is_empty() { p class="why" { (render_reason(request, entry)) } }
                @else if let Some(reason) = layout::unserved_reason(request, listed.index) {
                    p class="why" { "Not listed for clients: " (render_inline_code(&truncate_at_word(reason, 200))) }
                }
                @if let Some(hit) = &listed.hit {
                    @let words = hit.why.iter().take(3).map(|why| format!("“{}” in {}", why.term, why.field.name()));
                    p class="match" { (words.collect::<Vec<_>>().join(", ")) }
                }
                @if let Some(trouble) = trouble { p class="why" { (render_inline_code(&trouble)) } }
                p class="marks" {
                    (render_marks(entry, known))
                    @if !is_withheld { (render_tags(query, entry)) }
                }
            }
        }
    }
}

/// Renders the reason why a skill is not active, with a link to the copy that shadows it.
pub(super) fn render_reason(request: &PageRequest, entry: &CatalogEntry) -> Markup {
    html! {
        (render_inline_code(&truncate_at_word(&entry.reason, 300)))
        @if let Some(winner) = entry.shadowed_by {
            " — " a href=(layout::skill_address(&request.view.catalog, winner)) { "the copy that takes precedence" }
        }
    }
}

/// Renders links to the previous and next page of the list.
fn render_page_links(query: &LibraryQuery, page: usize, pages: usize) -> Markup {
    let address = |page: usize| query.address(&[("page", page.to_string().as_str())]);
    html! {
        @if pages > 1 {
            nav class="turning" aria-label="Pages of the list" {
                @if page > 1 { a class="button" href=(address(page - 1)) { "Previous" } }
                span { "Page " (page) " of " (pages) }
                @if page < pages { a class="button" href=(address(page + 1)) { "Next" } }
            }
        }
    }
}
