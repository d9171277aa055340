//! The graph page: dependencies between skills, as a picture and as a list.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use rep_library::{Catalog, DependencyState};

use super::html::{format_count, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse};

/// The maximum number of skills in the picture and of dependencies in the list.
const DRAWN_MAX: usize = 150;
const LISTED_MAX: usize = 500;
/// The maximum column of the picture.
const COLUMNS_MAX: usize = 12;
/// Sizes in the picture.
const NODE_WIDTH: usize = 190;
const NODE_HEIGHT: usize = 34;
const GAP_X: usize = 70;
const GAP_Y: usize = 14;

/// A dependency: the dependent skill, the skill it needs, and the state.
struct DependencyArrow {
    from: usize,
    to: GraphNode,
    is_met: bool,
    state: &'static str,
}

/// A box of the picture: an entry of the catalog, or an id without an entry.
type GraphNode = Result<usize, String>;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let arrows = find_arrows(request);
    let count = format_count(arrows.len(), "dependency").replace("dependencys", "dependencies");
    let body = html! {
        div class="title" {
            h1 { "Graph" }
            p class="lead" { "Dependencies between skills: " (count) "." }
        }
        @if arrows.is_empty() {
            p class="card" {
                "No skill declares a dependency. Declare one with " code { "depends_on" } " in the frontmatter."
            }
        } @else {
            section class="card" {
                h2 { "Picture" }
                div class="scroll" tabindex="0" { (render_picture(&request.view.catalog, &arrows)) }
            }
            section class="card" {
                h2 { "List" }
                div class="scroll" tabindex="0" { (render_list(&request.view.catalog, &arrows)) }
            }
        }
    };
    PageResponse::Page(PageLocation::Graph, "Graph".to_owned(), body)
}

fn find_arrows(request: &PageRequest) -> Vec<DependencyArrow> {
    let entries = request.view.catalog.entries.iter().enumerate();
    let shown = entries.filter(|(_, entry)| !layout::is_withheld(request, entry));
    let arrows = shown.flat_map(|(from, entry)| {
        entry.dependencies.iter().map(move |needed| DependencyArrow {
            from,
            to: needed.entry.ok_or_else(|| needed.id.clone()),
            is_met: needed.state == DependencyState::Met,
            state: needed.state.name(),
        })
    });
    arrows.collect()
}

fn render_list(catalog: &Catalog, arrows: &[DependencyArrow]) -> Markup {
    let rest = arrows.len().saturating_sub(LISTED_MAX);
    html! {
        table {
            thead { tr { @for name in ["Skill", "Needs", "State"] { th scope="col" { (name) } } } }
            tbody {
                @for arrow in arrows.iter().take(LISTED_MAX) {
                    tr {
                        td { (layout::render_skill_link(catalog, arrow.from)) }
                        td {
                            @match &arrow.to {
                                Ok(index) => (layout::render_skill_link(catalog, *index)),
                                Err(id) => { bdi { (id) } }
                            }
                        }
                        td { (layout::render_pill(if arrow.is_met { "active" } else { "invalid" }, arrow.state)) }
                    }
                }
                @if rest > 0 { tr { td colspan="3" { "… and " (rest) " more" } } }
            }
        }
    }
}

/// Assigns every box a column to the right of all boxes that need it. A cycle ends at the maximum column.
fn assign_columns(arrows: &[&DependencyArrow]) -> BTreeMap<GraphNode, usize> {
    let mut needs: BTreeMap<GraphNode, BTreeSet<GraphNode>> = BTreeMap::new();
    for arrow in arrows {
        needs.entry(Ok(arrow.from)).or_default().insert(arrow.to.clone());
    }
    let mut columns: BTreeMap<GraphNode, usize> = needs.keys().map(|node| (node.clone(), 0)).collect();
    // After as many rounds as there are boxes, all columns except those of cycles are final.
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

fn render_picture(catalog: &Catalog, arrows: &[DependencyArrow]) -> Markup {
    let mut seen: BTreeSet<GraphNode> = BTreeSet::new();
    let mut fits = |arrow: &&DependencyArrow| {
        seen.insert(Ok(arrow.from));
        seen.insert(arrow.to.clone());
        seen.len() <= DRAWN_MAX
    };
    let drawn: Vec<&DependencyArrow> = arrows.iter().take_while(|arrow| fits(arrow)).collect();
    let columns = assign_columns(&drawn);
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let mut places: BTreeMap<&GraphNode, (usize, usize)> = BTreeMap::new();
    for (node, column) in &columns {
        let row = rows.entry(*column).or_default();
        places.insert(node, (column * (NODE_WIDTH + GAP_X) + 2, *row * (NODE_HEIGHT + GAP_Y) + 2));
        *row += 1;
    }
    let width = (columns.values().max().copied().unwrap_or(0) + 1) * (NODE_WIDTH + GAP_X) - GAP_X + 4;
    let height = rows.values().max().copied().unwrap_or(1) * (NODE_HEIGHT + GAP_Y) - GAP_Y + 4;
    html! {
        svg class="graph" role="group" aria-label="Dependencies between skills; the list below has the same content"
            width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
            defs {
                marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                    path d="M0 0L8 4L0 8z" {}
                }
            }
            @for arrow in &drawn { (render_arrow(arrow, &places)) }
            @for (node, place) in &places { (render_node(catalog, node, *place)) }
        }
    }
}

/// Renders the curve of an arrow.
fn render_arrow(arrow: &DependencyArrow, places: &BTreeMap<&GraphNode, (usize, usize)>) -> Markup {
    let (Some((x1, y1)), Some((x2, y2))) = (places.get(&Ok(arrow.from)), places.get(&arrow.to)) else {
        return Markup::default();
    };
    let (x1, y1, y2) = (x1 + NODE_WIDTH, y1 + NODE_HEIGHT / 2, y2 + NODE_HEIGHT / 2);
    let middle = usize::midpoint(x1, *x2);
    let curve = format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}");
    let class = if arrow.is_met { "met" } else { "unmet" };
    html! { path class=(class) d=(curve) marker-end="url(#tip)" {} }
}

/// Renders a box with the name of a skill. It links to the skill if the skill exists.
fn render_node(catalog: &Catalog, node: &GraphNode, (x, y): (usize, usize)) -> Markup {
    let (name, class) = match node {
        Ok(index) => (&catalog.entries[*index].qualified_name, catalog.entries[*index].status.name()),
        Err(id) => (id, "unknown"),
    };
    let drawing = html! {
        rect class={ "node " (class) } x=(x) y=(y) width=(NODE_WIDTH) height=(NODE_HEIGHT) rx="8" {}
        text x=(x + 12) y=(y + 22) { (truncate_at_word(name, 24)) }
    };
    html! {
        @match node {
            Ok(index) => { a href=(layout::skill_address(catalog, *index)) aria-label=(name) { (drawing) } }
            Err(_) => (drawing),
        }
    }
}
