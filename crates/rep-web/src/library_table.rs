//! The dense form of the library: one row for each skill, sorted by a column.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rep_mcp::collapse_whitespace;

use super::html::{group_thousands, render_inline_code, render_time, truncate_at_word};
use super::inspection::InspectedLibrary;
use super::library_query::{LibraryOrder, LibraryQuery, ListedSkill};
use super::usage::SkillUsage;
use super::{PageRequest, layout, library};

/// The maximum length of a shown description or reason.
const ABOUT_CHARS_MAX: usize = 110;

/// Renders the skills as rows.
pub(super) fn render_table<'a>(
    request: &PageRequest,
    query: &LibraryQuery,
    inspected: &InspectedLibrary,
    shown: impl Iterator<Item = &'a ListedSkill>,
) -> Markup {
    let runtime = request.dashboard.server.runtime();
    request.dashboard.usage.with_usage(runtime, |usage| {
        html! {
            section class="card" {
                div class="scroll" tabindex="0" role="region" aria-label="Skills" {
                    table class="dense" {
                        thead {
                            tr {
                                (render_heading(query, LibraryOrder::Name, "Skill"))
                                th scope="col" { "Status" }
                                (render_heading(query, LibraryOrder::Findings, "Findings"))
                                (render_heading(query, LibraryOrder::Tokens, "Tokens"))
                                (render_heading(query, LibraryOrder::LastUsed, "Last used"))
                                th scope="col" { "Marks and tags" }
                            }
                        }
                        tbody { @for listed in shown { (render_row(request, query, inspected, usage, listed)) } }
                    }
                }
            }
        }
    })
}

/// Renders the heading of a column that sorts the table.
fn render_heading(query: &LibraryQuery, order: LibraryOrder, name: &str) -> Markup {
    let is_current = query.order == order;
    let direction = if query.is_descending() { "descending" } else { "ascending" };
    html! {
        th scope="col" aria-sort=[is_current.then_some(direction)] {
            a href=(query.sort_address(order)) {
                (name)
                @if is_current { " " span aria-hidden="true" { @if query.is_descending() { "↓" } @else { "↑" } } }
            }
        }
    }
}

fn render_row(
    request: &PageRequest,
    query: &LibraryQuery,
    inspected: &InspectedLibrary,
    usage: &BTreeMap<String, SkillUsage>,
    listed: &ListedSkill,
) -> Markup {
    let catalog = &request.view.catalog;
    let entry = &catalog.entries[listed.index];
    let known = inspected.get(listed.index);
    let is_withheld = layout::is_withheld(request, entry);
    let unserved = layout::unserved_reason(request, listed.index);
    let reason = if entry.reason.is_empty() { unserved.unwrap_or_default() } else { &entry.reason };
    let about = match (reason, is_withheld) {
        ("", true) => String::new(),
        ("", false) => collapse_whitespace(&entry.description),
        (reason, _) => reason.to_owned(),
    };
    html! {
        tr {
            td {
                a class="name" href=(layout::skill_address(catalog, listed.index)) {
                    bdi { (truncate_at_word(&entry.qualified_name, 60)) }
                }
                span class={ "about" @if !reason.is_empty() { " why" } } {
                    (render_inline_code(&truncate_at_word(&about, ABOUT_CHARS_MAX)))
                }
            }
            td { (layout::render_status(entry.status)) }
            td {
                @match known {
                    Some(known) if known.findings() == 0 => { span class="muted" { "none" } }
                    Some(known) => {
                        (library::render_finding_marks(known))
                        @if known.infos > 0 { span class="muted" { (known.infos) " info" } }
                    }
                    None => { span class="muted" { "–" } }
                }
            }
            td class="amount" { @if let Some(known) = known { (group_thousands(known.total_tokens())) } @else { "–" } }
            td class="amount" {
                @match usage.get(&entry.qualified_name).map(SkillUsage::last_used).filter(|at| !at.is_empty()) {
                    Some(at) => (render_time(at)),
                    None => { span class="muted" { "never" } }
                }
            }
            td {
                @if known.is_some_and(|known| known.has_tools) { span class="chip" { "tools" } " " }
                @if known.is_some_and(|known| known.has_scripts) { span class="chip" { "scripts" } " " }
                @if !is_withheld { (library::render_tags(query, entry)) }
            }
        }
    }
}
