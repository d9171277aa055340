//! Which skills need which, as a picture and as a list.

use std::collections::{BTreeMap, BTreeSet};

use rep_library::{Catalog, DependencyState};

use super::html::{Html, counted, cut, html, put};
use super::layout::{self, Here};
use super::{Asked, Shown};

/// The most skills of the picture; the list says the rest.
const DRAWN_MAX: usize = 150;
const LISTED_MAX: usize = 500;
/// Sizes in the picture.
const WIDTH: usize = 190;
const HEIGHT: usize = 34;
const GAP_X: usize = 70;
const GAP_Y: usize = 14;

/// An arrow: who needs, what is needed, and how that stands.
struct Arrow {
    from: usize,
    /// The entry, or the id nobody bears.
    to: Result<usize, String>,
    is_met: bool,
    word: &'static str,
}

pub(super) fn show(asked: &Asked) -> Shown {
    let arrows = arrows(asked);
    let mut body = html!(
        "<div class=\"title\"><h1>Graph</h1><p class=\"lead\">Which skills need which: {}.</p></div>",
        counted(arrows.len(), "dependency").replace("dependencys", "dependencies")
    );
    if arrows.is_empty() {
        put!(
            body,
            "<p class=\"card\">No skill says that it needs another one. <code>depends_on</code> in the frontmatter does.</p>"
        );
        return Shown::Page(Here::Graph, "Graph".to_owned(), body);
    }
    put!(
        body,
        "<section class=\"card\"><h2>Picture</h2><div class=\"scroll\" tabindex=\"0\">{}</div></section>",
        picture(asked, &arrows)
    );
    put!(
        body,
        "<section class=\"card\"><h2>List</h2><div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Skill</th><th scope=\"col\">needs</th><th scope=\"col\">which is</th></tr></thead><tbody>{}</tbody></table></div></section>",
        rows(asked, &arrows)
    );
    Shown::Page(Here::Graph, "Graph".to_owned(), body)
}

fn arrows(asked: &Asked) -> Vec<Arrow> {
    let catalog = &asked.shelf.catalog;
    let mut arrows = Vec::new();
    let told = catalog.entries.iter().enumerate().filter(|(_, entry)| !layout::is_withheld(asked, entry));
    for (from, entry) in told {
        for needed in &entry.dependencies {
            let is_met = needed.state == DependencyState::Met;
            let to = needed.entry.ok_or_else(|| needed.id.clone());
            arrows.push(Arrow { from, to, is_met, word: needed.state.name() });
        }
    }
    arrows
}

fn rows(asked: &Asked, arrows: &[Arrow]) -> Html {
    let catalog = &asked.shelf.catalog;
    let link = |index: usize| {
        html!(
            "<a href=\"{}\"><bdi>{}</bdi></a>",
            layout::address(catalog, index),
            catalog.entries[index].qualified_name
        )
    };
    let mut rows = Html::default();
    for arrow in arrows.iter().take(LISTED_MAX) {
        let to = match &arrow.to {
            Ok(index) => link(*index),
            Err(id) => html!("<bdi>{}</bdi>", id),
        };
        let pill = if arrow.is_met { "active" } else { "invalid" };
        put!(
            rows,
            "<tr><td>{}</td><td>{}</td><td><span class=\"pill {}\">{}</span></td></tr>",
            link(arrow.from),
            to,
            pill,
            arrow.word
        );
    }
    let rest = arrows.len().saturating_sub(LISTED_MAX);
    if rest > 0 {
        put!(rows, "<tr><td colspan=\"3\">… and {} more</td></tr>", rest);
    }
    rows
}

/// A box of the picture: an entry, or an id nobody bears.
type Node = Result<usize, String>;

/// Every box with its column: one further right than whatever needs it. A circle ends where it was entered.
fn columns(arrows: &[&Arrow]) -> BTreeMap<Node, usize> {
    let mut needs: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
    let mut is_needed: BTreeSet<Node> = BTreeSet::new();
    for arrow in arrows {
        needs.entry(Ok(arrow.from)).or_default().insert(arrow.to.clone());
        is_needed.insert(arrow.to.clone());
    }
    let mut columns: BTreeMap<Node, usize> = BTreeMap::new();
    let firsts: Vec<Node> = needs.keys().filter(|node| !is_needed.contains(*node)).cloned().collect();
    let all: Vec<Node> = firsts.into_iter().chain(needs.keys().cloned()).collect();
    // As many rounds as there are boxes settle everything but circles, which stop there.
    for node in all {
        columns.entry(node).or_insert(0);
    }
    for _ in 0..needs.len().min(DRAWN_MAX) {
        let mut is_settled = true;
        for (from, to) in needs.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
            let least = columns.get(from).copied().unwrap_or(0) + 1;
            let column = columns.entry(to.clone()).or_insert(0);
            if *column < least && least <= 12 {
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

fn picture(asked: &Asked, arrows: &[Arrow]) -> Html {
    let catalog = &asked.shelf.catalog;
    let mut seen: BTreeSet<Node> = BTreeSet::new();
    let drawn: Vec<&Arrow> = arrows
        .iter()
        .take_while(|arrow| {
            seen.insert(Ok(arrow.from));
            seen.insert(arrow.to.clone());
            seen.len() <= DRAWN_MAX
        })
        .collect();
    let columns = columns(&drawn);
    let mut rows_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut places: BTreeMap<&Node, (usize, usize)> = BTreeMap::new();
    for (node, column) in &columns {
        let row = rows_of.entry(*column).or_default();
        places.insert(node, (column * (WIDTH + GAP_X) + 2, *row * (HEIGHT + GAP_Y) + 2));
        *row += 1;
    }
    let width = (columns.values().max().copied().unwrap_or(0) + 1) * (WIDTH + GAP_X) - GAP_X + 4;
    let height = rows_of.values().max().copied().unwrap_or(1) * (HEIGHT + GAP_Y) - GAP_Y + 4;
    let mut lines = Html::default();
    for arrow in &drawn {
        let (Some((x1, y1)), Some((x2, y2))) = (places.get(&Ok(arrow.from)), places.get(&arrow.to)) else { continue };
        let (x1, y1, x2, y2) = (x1 + WIDTH, y1 + HEIGHT / 2, *x2, y2 + HEIGHT / 2);
        let middle = usize::midpoint(x1, x2);
        put!(
            lines,
            "<path class=\"{}\" d=\"M{} {}C{} {} {} {} {} {}\" marker-end=\"url(#tip)\"/>",
            if arrow.is_met { "met" } else { "unmet" },
            x1,
            y1,
            middle,
            y1,
            middle,
            y2,
            x2,
            y2
        );
    }
    let boxes = boxes(catalog, &places);
    html!(
        "<svg class=\"graph\" role=\"group\" aria-label=\"Skills and what they need; the list below says the same\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>{}{}</svg>",
        width,
        height,
        width,
        height,
        lines,
        boxes
    )
}

/// The boxes, each a way to its skill.
fn boxes(catalog: &Catalog, places: &BTreeMap<&Node, (usize, usize)>) -> Html {
    let mut boxes = Html::default();
    for (node, (x, y)) in places {
        let (name, class, to) = match node {
            Ok(index) => {
                let entry = &catalog.entries[*index];
                (entry.qualified_name.clone(), entry.status.name(), layout::address(catalog, *index))
            }
            Err(id) => (id.clone(), "unknown", String::new()),
        };
        let drawn = html!(
            "<rect class=\"node {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/><text x=\"{}\" y=\"{}\">{}</text>",
            class,
            *x,
            *y,
            WIDTH,
            HEIGHT,
            x + 12,
            y + 22,
            cut(&name, 24)
        );
        if to.is_empty() {
            put!(boxes, "{}", drawn);
        } else {
            put!(boxes, "<a href=\"{}\" aria-label=\"{}\">{}</a>", to, name, drawn);
        }
    }
    boxes
}
