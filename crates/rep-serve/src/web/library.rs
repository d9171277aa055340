//! The library at a glance: every skill with its status, who shadows whom, and a search that answers as one types.

use std::collections::BTreeSet;

use rep_library::search::Hit;
use rep_library::{CatalogEntry, Scope, Status};

use super::fields::encoded;
use super::html::{Html, counted, cut, grouped, html, put, worded};
use super::layout::{self, Here};
use super::{Asked, Shown};
use crate::shelf::one_line;

/// How many skills a page has.
const PAGE: usize = 40;
/// How much of a description is shown.
const DESCRIPTION_CHARS: usize = 220;
/// The most hits of a search.
const HITS_MAX: usize = 400;

const STATUSES: [Status; 6] =
    [Status::Active, Status::Hidden, Status::Shadowed, Status::Untrusted, Status::Invalid, Status::Disabled];
const SCOPES: [Scope; 4] = [Scope::Managed, Scope::Project, Scope::Personal, Scope::Package];

pub(super) fn show(asked: &Asked) -> Shown {
    asked.web.warm(&asked.shelf);
    let list = list(asked);
    if asked.is_part() {
        return Shown::Part(list);
    }
    let entries = &asked.shelf.catalog.entries;
    let mut body = html!(
        "<div class=\"title\"><h1>Library</h1><p class=\"lead\">{} in {}</p></div>",
        counted(entries.len(), "skill"),
        counted(entries.iter().map(|entry| entry.scope).collect::<BTreeSet<_>>().len(), "scope")
    );
    put!(body, "{}", tiles(asked));
    put!(
        body,
        "{}<p class=\"unseen\" id=\"list-found\" role=\"status\"></p><div id=\"list\">{}</div>",
        form(asked),
        list
    );
    if !asked.shelf.catalog.notes.is_empty() {
        let mut notes = Html::default();
        asked.shelf.catalog.notes.iter().take(20).for_each(|note| put!(notes, "<li>{}</li>", note));
        put!(body, "<section class=\"card\"><h2>Left out</h2><ul>{}</ul></section>", notes);
    }
    Shown::Page(Here::Library, "Library".to_owned(), body)
}

/// How many skills stand how.
fn tiles(asked: &Asked) -> Html {
    let mut tiles = Html::default();
    for status in STATUSES {
        let count = asked.shelf.catalog.entries.iter().filter(|entry| entry.status == status).count();
        if count > 0 || status == Status::Active {
            let current = if asked.fields.get("status") == status.name() {
                html!(" aria-current=\"true\"")
            } else {
                Html::default()
            };
            put!(
                tiles,
                "<li><a class=\"tile {}\" href=\"/?status={}\" title=\"{}\"{}><b>{}</b><span>{}</span></a></li>",
                status.name(),
                status.name(),
                layout::meaning(status),
                current,
                grouped(count),
                status.name()
            );
        }
    }
    html!("<ul class=\"tiles\" aria-label=\"Skills by status\">{}</ul>", tiles)
}

fn options(names: &[&str], chosen: &str, all: &str) -> Html {
    let mut options = html!("<option value=\"\">{}</option>", all);
    for name in names {
        let mark = if *name == chosen { html!(" selected") } else { Html::default() };
        put!(options, "<option{}>{}</option>", mark, *name);
    }
    options
}

fn form(asked: &Asked) -> Html {
    let statuses: Vec<&str> = STATUSES.iter().map(|status| status.name()).collect();
    let scopes: Vec<&str> = SCOPES.iter().map(|scope| scope.name()).collect();
    html!(
        "<form class=\"search\" role=\"search\" action=\"/\" method=\"get\" data-live=\"list\">\
         <div class=\"grow\"><label for=\"q\">Search</label><input id=\"q\" name=\"q\" type=\"search\" value=\"{}\" \
         placeholder=\"What should a skill be able to do?\" autocomplete=\"off\"></div>\
         <div><label for=\"scope\">Scope</label><select id=\"scope\" name=\"scope\">{}</select></div>\
         <div><label for=\"status\">Status</label><select id=\"status\" name=\"status\">{}</select></div>\
         <button class=\"primary\">Search</button></form>",
        asked.fields.get("q"),
        options(&scopes, asked.fields.get("scope"), "all"),
        options(&statuses, asked.fields.get("status"), "all")
    )
}

/// A skill of the list, and why a search found it.
struct Listed {
    index: usize,
    hit: Option<Hit>,
}

/// The skills that are wanted, in order.
fn wanted(asked: &Asked) -> Vec<Listed> {
    let catalog = &asked.shelf.catalog;
    let (scope, status) = (asked.fields.get("scope"), asked.fields.get("status"));
    let fits = |entry: &CatalogEntry| {
        (scope.is_empty() || entry.scope.name() == scope) && (status.is_empty() || entry.status.name() == status)
    };
    let text = asked.fields.get("q");
    if text.is_empty() {
        let all = (0..catalog.entries.len()).filter(|index| fits(&catalog.entries[*index]));
        return all.map(|index| Listed { index, hit: None }).collect();
    }
    let hits = catalog.search(text, HITS_MAX);
    let found: BTreeSet<usize> = hits.iter().map(|hit| hit.entry).collect();
    // A name that is only half typed, and skills that nobody may search for by what they say.
    let lower = text.to_lowercase();
    let named = (0..catalog.entries.len())
        .filter(|index| !found.contains(index))
        .filter(|index| catalog.entries[*index].qualified_name.to_lowercase().contains(&lower))
        .take(HITS_MAX);
    let (named, hits) = (
        named.map(|index| Listed { index, hit: None }),
        hits.into_iter().map(|hit| Listed { index: hit.entry, hit: Some(hit) }),
    );
    let mut all: Vec<Listed> = hits.chain(named).filter(|listed| fits(&catalog.entries[listed.index])).collect();
    // Whoever types a name means the skill of that name.
    all.sort_by_key(|listed| !catalog.entries[listed.index].name.to_lowercase().starts_with(&lower));
    all
}

fn list(asked: &Asked) -> Html {
    if asked.shelf.catalog.entries.is_empty() {
        return html!(
            "<p class=\"card\">No skill is here yet. <code>rep init NAME</code> begins one, <code>rep install SOURCE</code> brings one here, \
             and <code>rep serve --path FOLDER</code> serves those of a folder.</p>"
        );
    }
    let all = wanted(asked);
    let pages = all.len().div_ceil(PAGE).max(1);
    let page = asked.fields.number("page").unwrap_or(1).clamp(1, pages);
    let mut items = Html::default();
    for listed in all.iter().skip((page - 1) * PAGE).take(PAGE) {
        put!(items, "{}", item(asked, listed));
    }
    let text = asked.fields.get("q");
    let found = match (all.len(), text.is_empty()) {
        (0, true) => "No skill is like that.".to_owned(),
        (0, false) => format!("No skill says anything about “{text}”."),
        (count, true) => counted(count, "skill"),
        (count, false) => format!("{} for “{text}”, best first", counted(count, "skill")),
    };
    html!("<p class=\"count\">{}</p><ol class=\"skills\">{}</ol>{}", found, items, turning(asked, page, pages))
}

fn item(asked: &Asked, listed: &Listed) -> Html {
    let entry = &asked.shelf.catalog.entries[listed.index];
    let mut beside = Html::default();
    if !entry.reason.is_empty() {
        put!(beside, "<p class=\"why\">{}</p>", reason(asked, entry));
    }
    if let Some(hit) = &listed.hit {
        let words: Vec<String> =
            hit.why.iter().take(3).map(|why| format!("“{}” in {}", why.term, why.field.name())).collect();
        put!(beside, "<p class=\"match\">{}</p>", words.join(", "));
    }
    let is_withheld = layout::is_withheld(asked, entry);
    let trouble = entry.dependencies.iter().filter(|_| !is_withheld).find_map(rep_library::Dependency::trouble);
    if let Some(trouble) = trouble {
        put!(beside, "<p class=\"why\">{}</p>", worded(&trouble));
    }
    // What nobody trusts yet is not told on.
    let description = if is_withheld { String::new() } else { one_line(&entry.description) };
    html!(
        "<li><article class=\"skill\"><h2><a href=\"{}\"><bdi>{}</bdi></a></h2>\
         <p class=\"marks\">{} <span class=\"chip\">{}</span></p><p class=\"about\">{}</p>{}</article></li>",
        layout::address(&asked.shelf.catalog, listed.index),
        cut(&entry.qualified_name, 80),
        layout::status(entry.status),
        entry.scope.name(),
        cut(&description, DESCRIPTION_CHARS),
        beside
    )
}

/// Why a skill is not active, with the one that won over it.
pub(super) fn reason(asked: &Asked, entry: &CatalogEntry) -> Html {
    let words = html!("{}", worded(&cut(&entry.reason, 300)));
    let Some(winner) = entry.shadowed_by else { return words };
    let to = layout::address(&asked.shelf.catalog, winner);
    html!("{} — <a href=\"{}\">the copy that wins</a>", words, to)
}

/// The way to other pages of the list.
fn turning(asked: &Asked, page: usize, pages: usize) -> Html {
    if pages == 1 {
        return Html::default();
    }
    let to = |page: usize| {
        let field = |name: &str| encoded(asked.fields.get(name));
        format!("/?q={}&scope={}&status={}&page={page}", field("q"), field("scope"), field("status"))
    };
    let link = |is_there: bool, page: usize, name: &str| {
        if is_there { html!("<a class=\"button\" href=\"{}\">{}</a>", to(page), name) } else { Html::default() }
    };
    html!(
        "<nav class=\"turning\" aria-label=\"Pages of the list\">{}<span>Page {} of {}</span>{}</nav>",
        link(page > 1, page.saturating_sub(1), "Previous"),
        page,
        pages,
        link(page < pages, page + 1, "Next")
    )
}
