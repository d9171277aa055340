//! Which skills need which, as a picture and as a list.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use rep_library::{Catalog, DependencyState};

use super::html::{counted, truncate};
use super::layout::{self, Location};
use super::{PageRequest, PageResponse};

/// The most skills of the picture; the list has the rest.
const DRAWN_MAX: usize = 150;
const LISTED_MAX: usize = 500;
/// The deepest column of the picture.
const COLUMNS_MAX: usize = 12;
/// Sizes in the picture.
const WIDTH: usize = 190;
const HEIGHT: usize = 34;
const GAP_X: usize = 70;
const GAP_Y: usize = 14;

/// A dependency: what needs, what is needed, and its state.
struct Arrow {
    from: usize,
    to: Node,
    is_met: bool,
    state: &'static str,
}

/// A box of the picture: an entry, or an id that no entry has.
type Node = Result<usize, String>;

pub(super) fn render(request: &PageRequest) -> PageResponse {
    let arrows = arrows(request);
    let count = counted(arrows.len(), "dependency").replace("dependencys", "dependencies");
    let body = html! {
        div class="title" {
            h1 { "Graph" }
            p class="lead" { "Which skills need which: " (count) "." }
        }
        @if arrows.is_empty() {
            p class="card" {
                "No skill says that it needs another one. " code { "depends_on" } " in the frontmatter does."
            }
        } @else {
            section class="card" {
                h2 { "Picture" }
                div class="scroll" tabindex="0" { (picture(&request.view.catalog, &arrows)) }
            }
            section class="card" {
                h2 { "List" }
                div class="scroll" tabindex="0" { (list(&request.view.catalog, &arrows)) }
            }
        }
    };
    PageResponse::Page(Location::Graph, "Graph".to_owned(), body)
}

fn arrows(request: &PageRequest) -> Vec<Arrow> {
    let entries = request.view.catalog.entries.iter().enumerate();
    let shown = entries.filter(|(_, entry)| !layout::is_withheld(request, entry));
    let arrows = shown.flat_map(|(from, entry)| {
        entry.dependencies.iter().map(move |needed| Arrow {
            from,
            to: needed.entry.ok_or_else(|| needed.id.clone()),
            is_met: needed.state == DependencyState::Met,
            state: needed.state.name(),
        })
    });
    arrows.collect()
}

fn list(catalog: &Catalog, arrows: &[Arrow]) -> Markup {
    let rest = arrows.len().saturating_sub(LISTED_MAX);
    html! {
        table {
            thead { tr { @for name in ["Skill", "needs", "which is"] { th scope="col" { (name) } } } }
            tbody {
                @for arrow in arrows.iter().take(LISTED_MAX) {
                    tr {
                        td { (layout::skill_link(catalog, arrow.from)) }
                        td {
                            @match &arrow.to {
                                Ok(index) => (layout::skill_link(catalog, *index)),
                                Err(id) => { bdi { (id) } }
                            }
                        }
                        td { (layout::pill(if arrow.is_met { "active" } else { "invalid" }, arrow.state)) }
                    }
                }
                @if rest > 0 { tr { td colspan="3" { "… and " (rest) " more" } } }
            }
        }
    }
}

/// Assigns every box a column: one further right than whatever needs it. A cycle ends at the deepest column.
fn columns(arrows: &[&Arrow]) -> BTreeMap<Node, usize> {
    let mut needs: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
    for arrow in arrows {
        needs.entry(Ok(arrow.from)).or_default().insert(arrow.to.clone());
    }
    let mut columns: BTreeMap<Node, usize> = needs.keys().map(|node| (node.clone(), 0)).collect();
    // As many rounds as there are boxes settle everything but cycles.
    for _ in 0..needs.len().min(DRAWN_MAX) {
        let mut is_settled = true;
        for (from, to) in needs.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
            let least = columns.get(from).copied().unwrap_or(0) + 1;
            let column = columns.entry(to.clone()).or_insert(0);
            if *column < least && least <= COLUMNS_MAX {
                *column = least;
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    columns
}

fn picture(catalog: &Catalog, arrows: &[Arrow]) -> Markup {
    let mut seen: BTreeSet<Node> = BTreeSet::new();
    let mut fits = |arrow: &&Arrow| {
        seen.insert(Ok(arrow.from));
        seen.insert(arrow.to.clone());
        seen.len() <= DRAWN_MAX
    };
    let drawn: Vec<&Arrow> = arrows.iter().take_while(|arrow| fits(arrow)).collect();
    let columns = columns(&drawn);
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let mut places: BTreeMap<&Node, (usize, usize)> = BTreeMap::new();
    for (node, column) in &columns {
        let row = rows.entry(*column).or_default();
        places.insert(node, (column * (WIDTH + GAP_X) + 2, *row * (HEIGHT + GAP_Y) + 2));
        *row += 1;
    }
    let width = (columns.values().max().copied().unwrap_or(0) + 1) * (WIDTH + GAP_X) - GAP_X + 4;
    let height = rows.values().max().copied().unwrap_or(1) * (HEIGHT + GAP_Y) - GAP_Y + 4;
    html! {
        svg class="graph" role="group" aria-label="Skills and what they need; the list below says the same"
            width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
            defs {
                marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                    path d="M0 0L8 4L0 8z" {}
                }
            }
            @for arrow in &drawn { (line(arrow, &places)) }
            @for (node, place) in &places { (node_box(catalog, node, *place)) }
        }
    }
}

/// The curve of an arrow.
fn line(arrow: &Arrow, places: &BTreeMap<&Node, (usize, usize)>) -> Markup {
    let (Some((x1, y1)), Some((x2, y2))) = (places.get(&Ok(arrow.from)), places.get(&arrow.to)) else {
        return Markup::default();
    };
    let (x1, y1, y2) = (x1 + WIDTH, y1 + HEIGHT / 2, y2 + HEIGHT / 2);
    let middle = usize::midpoint(x1, *x2);
    let curve = format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}");
    let class = if arrow.is_met { "met" } else { "unmet" };
    html! { path class=(class) d=(curve) marker-end="url(#tip)" {} }
}

/// A box with the name of a skill; it links to the skill if there is one.
fn node_box(catalog: &Catalog, node: &Node, (x, y): (usize, usize)) -> Markup {
    let (name, class) = match node {
        Ok(index) => (&catalog.entries[*index].qualified_name, catalog.entries[*index].status.name()),
        Err(id) => (id, "unknown"),
    };
    let drawing = html! {
        rect class={ "node " (class) } x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="8" {}
        text x=(x + 12) y=(y + 22) { (truncate(name, 24)) }
    };
    html! {
        @match node {
            Ok(index) => { a href=(layout::address(catalog, *index)) aria-label=(name) { (drawing) } }
            Err(_) => (drawing),
        }
    }
}
