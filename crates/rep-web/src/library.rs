//! The library: every skill with its status, which copy shadows which, and a search that answers as one types.

use std::collections::BTreeSet;

use maud::{Markup, html};
use rep_library::search::Hit;
use rep_library::{CatalogEntry, Scope, Status};
use rep_mcp::one_line;

use super::fields::encode;
use super::html::{counted, grouped, truncate, with_code};
use super::layout::{self, Location};
use super::{PageRequest, PageResponse};

/// How many skills a page has.
const PAGE_SKILLS: usize = 40;
/// How much of a description is shown.
const DESCRIPTION_CHARS: usize = 220;
/// The most hits of a search.
const HITS_MAX: usize = 400;
/// How many notes and faults are shown.
const NOTES_MAX: usize = 20;

const STATUSES: [Status; 6] =
    [Status::Active, Status::Hidden, Status::Shadowed, Status::Untrusted, Status::Invalid, Status::Disabled];
const SCOPES: [Scope; 4] = [Scope::Managed, Scope::Project, Scope::Personal, Scope::Package];

pub(super) fn render(request: &PageRequest) -> PageResponse {
    request.dashboard.prepare_search(&request.view);
    let list = list(request);
    if request.is_part() {
        return PageResponse::Part(list);
    }
    let entries = &request.view.catalog.entries;
    let scopes = entries.iter().map(|entry| entry.scope).collect::<BTreeSet<_>>().len();
    let notes = &request.view.catalog.notes;
    let body = html! {
        div class="title" {
            h1 { "Library" }
            p class="lead" { (counted(entries.len(), "skill")) " in " (counted(scopes, "scope")) }
        }
        (tiles(request))
        (search_form(request))
        p class="unseen" id="list-found" role="status" {}
        div id="list" { (list) }
        @if !notes.is_empty() {
            section class="card" {
                h2 { "Left out" }
                ul { @for note in notes.iter().take(NOTES_MAX) { li { (note) } } }
            }
        }
        (tool_faults(request))
    };
    PageResponse::Page(Location::Library, "Library".to_owned(), body)
}

/// Tools that may run here and that clients are not offered, with the reason.
fn tool_faults(request: &PageRequest) -> Markup {
    let faults = request.view.tool_faults();
    let rest = faults.len().saturating_sub(NOTES_MAX);
    html! {
        @if !faults.is_empty() {
            section class="card" {
                h2 { "Tools that are not offered" }
                ul {
                    @for fault in faults.iter().take(NOTES_MAX) {
                        li {
                            code { (fault.skill) @if !fault.tool.is_empty() { ":" (fault.tool) } } ": "
                            (with_code(&fault.message))
                        }
                    }
                    @if rest > 0 { li { "… and " (rest) " more" } }
                }
            }
        }
    }
}

/// How many skills have which status.
fn tiles(request: &PageRequest) -> Markup {
    let count = |status: Status| request.view.catalog.entries.iter().filter(|entry| entry.status == status).count();
    let counts = STATUSES.map(|status| (status, count(status)));
    html! {
        ul class="tiles" aria-label="Skills by status" {
            @for (status, count) in counts {
                @if count > 0 || status == Status::Active {
                    li {
                        a class={ "tile " (status.name()) } href={ "/?status=" (status.name()) }
                            title=(layout::meaning(status))
                            aria-current=[(request.fields.get("status") == status.name()).then_some("true")] {
                            b { (grouped(count)) }
                            span { (status.name()) }
                        }
                    }
                }
            }
        }
    }
}

fn search_form(request: &PageRequest) -> Markup {
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
            (select("status", "Status", &STATUSES.map(Status::name)))
            button class="primary" { "Search" }
        }
    }
}

/// A skill of the list, and why a search found it.
struct ListedSkill {
    index: usize,
    hit: Option<Hit>,
}

/// The skills that fit the request, in order.
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
    let hits = catalog.search(text, HITS_MAX);
    let found: BTreeSet<usize> = hits.iter().map(|hit| hit.entry).collect();
    // The search does not find a name that is only half typed, nor skills whose text may not be searched.
    let lower = text.to_lowercase();
    let named = (0..catalog.entries.len())
        .filter(|index| !found.contains(index))
        .filter(|index| catalog.entries[*index].qualified_name.to_lowercase().contains(&lower))
        .take(HITS_MAX);
    let named = named.map(|index| ListedSkill { index, hit: None });
    let hits = hits.into_iter().map(|hit| ListedSkill { index: hit.entry, hit: Some(hit) });
    let mut all: Vec<ListedSkill> = hits.chain(named).filter(|listed| fits(&catalog.entries[listed.index])).collect();
    // A name that was typed means the skill with that name.
    all.sort_by_key(|listed| !catalog.entries[listed.index].name.to_lowercase().starts_with(&lower));
    all
}

fn list(request: &PageRequest) -> Markup {
    if request.view.catalog.entries.is_empty() {
        return html! {
            p class="card" {
                "No skill is here yet. " code { "rep init NAME" } " begins one, "
                code { "rep install SOURCE" } " brings one here, and "
                code { "rep serve --path FOLDER" } " serves those of a folder."
            }
        };
    }
    let all = find_skills(request);
    let pages = all.len().div_ceil(PAGE_SKILLS).max(1);
    let page = request.fields.number("page").unwrap_or(1).clamp(1, pages);
    let text = request.fields.get("q");
    let found = match (all.len(), text.is_empty()) {
        (0, true) => "No skill is like that.".to_owned(),
        (0, false) => format!("No skill says anything about “{text}”."),
        (count, true) => counted(count, "skill"),
        (count, false) => format!("{} for “{text}”, best first", counted(count, "skill")),
    };
    html! {
        p class="count" { (found) }
        ol class="skills" {
            @for listed in all.iter().skip((page - 1) * PAGE_SKILLS).take(PAGE_SKILLS) { (list_item(request, listed)) }
        }
        (page_links(request, page, pages))
    }
}

fn list_item(request: &PageRequest, listed: &ListedSkill) -> Markup {
    let entry = &request.view.catalog.entries[listed.index];
    let is_withheld = layout::is_withheld(request, entry);
    let trouble = entry.dependencies.iter().filter(|_| !is_withheld).find_map(rep_library::Dependency::trouble);
    // What is not trusted is not passed on.
    let description = if is_withheld { String::new() } else { one_line(&entry.description) };
    html! {
        li {
            article class="skill" {
                h2 {
                    a href=(layout::address(&request.view.catalog, listed.index)) {
                        bdi { (truncate(&entry.qualified_name, 80)) }
                    }
                }
                p class="marks" { (layout::status(entry.status)) " " span class="chip" { (entry.scope.name()) } }
                p class="about" { (truncate(&description, DESCRIPTION_CHARS)) }
                @if !entry.reason.is_empty() { p class="why" { (reason(request, entry)) } }
                @if let Some(hit) = &listed.hit {
                    @let words = hit.why.iter().take(3).map(|why| format!("“{}” in {}", why.term, why.field.name()));
                    p class="match" { (words.collect::<Vec<_>>().join(", ")) }
                }
                @if let Some(trouble) = trouble { p class="why" { (with_code(&trouble)) } }
            }
        }
    }
}

/// Why a skill is not active, with the copy that shadows it.
pub(super) fn reason(request: &PageRequest, entry: &CatalogEntry) -> Markup {
    html! {
        (with_code(&truncate(&entry.reason, 300)))
        @if let Some(winner) = entry.shadowed_by {
            " — " a href=(layout::address(&request.view.catalog, winner)) { "the copy that wins" }
        }
    }
}

/// Links to the previous and the next page of the list.
fn page_links(request: &PageRequest, page: usize, pages: usize) -> Markup {
    let address = |page: usize| {
        let value = |name: &str| encode(request.fields.get(name));
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
