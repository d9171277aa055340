//! The library page: all skills with their status and the copy that shadows them, and a search that updates while
//! typing.

use std::collections::BTreeSet;

use maud::{Markup, html};
use rep_library::search::SearchHit;
use rep_library::{CatalogEntry, Scope, SkillStatus};
use rep_mcp::collapse_whitespace;

use super::fields::encode_query_value;
use super::html::{format_count, group_thousands, render_inline_code, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse};

/// The number of skills on a page.
const PAGE_SKILLS_MAX: usize = 40;
/// The maximum length of a shown description.
const DESCRIPTION_CHARS_MAX: usize = 220;
/// The maximum number of search results.
const HITS_MAX: usize = 400;
/// The maximum number of shown notes and faults.
const NOTES_MAX: usize = 20;

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
    let list = render_list(request);
    if request.is_part() {
        return PageResponse::Part(list);
    }
    let entries = &request.view.catalog.entries;
    let scopes = entries.iter().map(|entry| entry.scope).collect::<BTreeSet<_>>().len();
    let notes = &request.view.catalog.notes;
    let body = html! {
        div class="title" {
            h1 { "Library" }
            p class="lead" { (format_count(entries.len(), "skill")) " in " (format_count(scopes, "scope")) }
        }
        (render_status_tiles(request))
        (render_search_form(request))
        p class="unseen" id="list-found" role="status" {}
        div id="list" { (list) }
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

/// Renders the number of skills for each status.
fn render_status_tiles(request: &PageRequest) -> Markup {
    let count =
        |status: SkillStatus| request.view.catalog.entries.iter().filter(|entry| entry.status == status).count();
    let counts = STATUSES.map(|status| (status, count(status)));
    html! {
        ul class="tiles" aria-label="Skills by status" {
            @for (status, count) in counts {
                @if count > 0 || status == SkillStatus::Active {
                    li {
                        a class={ "tile " (status.name()) } href={ "/?status=" (status.name()) }
                            title=(layout::status_meaning(status))
                            aria-current=[(request.fields.get("status") == status.name()).then_some("true")] {
                            b { (group_thousands(count)) }
                            span { (status.name()) }
                        }
                    }
                }
            }
        }
    }
}

fn render_search_form(request: &PageRequest) -> Markup {
    let select = |name: &str, label: &str, options: &[&str]| {
        html! {
            div {
                label for=(name) { (label) }
                select id=(name) name=(name) {
                    option value="" { "all" }
                    @for option in options { option selected[*option == request.fields.get(name)] { (option) } }
                }
            }
        }
    };
    html! {
        form class="search" role="search" action="/" method="get" data-live="list" {
            div class="grow" {
                label for="q" { "Search" }
                input id="q" name="q" type="search" value=(request.fields.get("q"))
                    placeholder="What should a skill be able to do?" autocomplete="off";
            }
            (select("scope", "Scope", &SCOPES.map(Scope::name)))
            (select("status", "Status", &STATUSES.map(SkillStatus::name)))
            button class="primary" { "Search" }
        }
    }
}

/// A skill of the list, and the search hit that found it.
struct ListedSkill {
    index: usize,
    hit: Option<SearchHit>,
}

/// Finds the skills that match the request, in order.
fn find_skills(request: &PageRequest) -> Vec<ListedSkill> {
    let catalog = &request.view.catalog;
    let (scope, status) = (request.fields.get("scope"), request.fields.get("status"));
    let fits = |entry: &CatalogEntry| {
        (scope.is_empty() || entry.scope.name() == scope) && (status.is_empty() || entry.status.name() == status)
    };
    let text = request.fields.get("q");
    if text.is_empty() {
        let all = (0..catalog.entries.len()).filter(|index| fits(&catalog.entries[*index]));
        return all.map(|index| ListedSkill { index, hit: None }).collect();
    }
    // While typing, every skill with the words is wanted, whether it fits or not.
    let hits = catalog.search_index().search(text, HITS_MAX);
    let found: BTreeSet<usize> = hits.iter().map(|hit| hit.entry).collect();
    // The search does not find partially typed names, nor skills whose text may not be searched.
    let lower = text.to_lowercase();
    let named = (0..catalog.entries.len())
        .filter(|index| !found.contains(index))
        .filter(|index| catalog.entries[*index].qualified_name.to_lowercase().contains(&lower))
        .take(HITS_MAX);
    let named = named.map(|index| ListedSkill { index, hit: None });
    let hits = hits.into_iter().map(|hit| ListedSkill { index: hit.entry, hit: Some(hit) });
    let mut all: Vec<ListedSkill> = hits.chain(named).filter(|listed| fits(&catalog.entries[listed.index])).collect();
    // Skills whose name starts with the typed text come first.
    all.sort_by_key(|listed| !catalog.entries[listed.index].name.to_lowercase().starts_with(&lower));
    all
}

fn render_list(request: &PageRequest) -> Markup {
    if request.view.catalog.entries.is_empty() {
        return html! {
            p class="card" {
                "No skills found. Create one with " code { "rep init NAME" } ", install one with "
                code { "rep install SOURCE" } ", or serve a directory with "
                code { "rep serve --path FOLDER" } "."
            }
        };
    }
    let all = find_skills(request);
    let pages = all.len().div_ceil(PAGE_SKILLS_MAX).max(1);
    let page = request.fields.parse_number("page").unwrap_or(1).clamp(1, pages);
    let text = request.fields.get("q");
    let found = match (all.len(), text.is_empty()) {
        (0, true) => "No matching skills.".to_owned(),
        (0, false) => format!("No results for “{text}”."),
        (count, true) => format_count(count, "skill"),
        (count, false) => format!("{} for “{text}”, best first", format_count(count, "skill")),
    };
    html! {
        p class="count" { (found) }
        ol class="skills" {
            @for listed in all.iter().skip((page - 1) * PAGE_SKILLS_MAX).take(PAGE_SKILLS_MAX) { (render_list_item(request, listed)) }
        }
        (render_page_links(request, page, pages))
    }
}

fn render_list_item(request: &PageRequest, listed: &ListedSkill) -> Markup {
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
                p class="marks" { (layout::render_status(entry.status)) " " span class="chip" { (entry.scope.name()) } }
                p class="about" { (truncate_at_word(&description, DESCRIPTION_CHARS_MAX)) }
                @if !entry.reason.is_empty() { p class="why" { (render_reason(request, entry)) } }
                @if let Some(hit) = &listed.hit {
                    @let words = hit.why.iter().take(3).map(|why| format!("“{}” in {}", why.term, why.field.name()));
                    p class="match" { (words.collect::<Vec<_>>().join(", ")) }
                }
                @if let Some(trouble) = trouble { p class="why" { (render_inline_code(&trouble)) } }
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
fn render_page_links(request: &PageRequest, page: usize, pages: usize) -> Markup {
    let address = |page: usize| {
        let value = |name: &str| encode_query_value(request.fields.get(name));
        format!("/?q={}&scope={}&status={}&page={page}", value("q"), value("scope"), value("status"))
    };
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
