//! Draws dependencies as boxes and arrows. A box is to the right of all boxes that need it.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use rep_library::Catalog;

use super::graph::{DependencyArrow, GraphNode};
use super::html::truncate_at_word;
use super::layout;

/// The maximum column of the picture.
const COLUMNS_MAX: usize = 12;
/// The maximum number of rounds in which columns are assigned.
const ROUNDS_MAX: usize = 300;
/// Sizes in the picture. A line of a name has room for the widest letters.
const LINE_CHARS: usize = 26;
const LINE_CHARS_MIN: usize = 8;
const LETTER_WIDTH: usize = 8;
const LINE_HEIGHT: usize = 17;
const PADDING: usize = 11;
const GAP_X: usize = 56;
const GAP_Y: usize = 12;
/// The room around a picture, for lines at its edge.
const MARGIN: usize = 3;

/// The position and size of a box.
struct NodeBox {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    lines: Vec<String>,
}

/// Renders a picture. `marked` is the skill that the picture is about; `number` distinguishes pictures on a page.
pub(super) fn render_picture(
    catalog: &Catalog,
    arrows: &[&DependencyArrow],
    marked: Option<usize>,
    number: usize,
) -> Markup {
    let boxes = place_boxes(catalog, arrows);
    let width = boxes.values().map(|node| node.x + node.width).max().unwrap_or(0) + MARGIN;
    let height = boxes.values().map(|node| node.y + node.height).max().unwrap_or(0) + MARGIN;
    let tip = format!("tip-{number}");
    html! {
        svg class="graph" role="group" aria-label="Dependencies between skills; the list has the same content"
            width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
            defs {
                marker id=(tip) viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                    path d="M0 0L8 4L0 8z" {}
                }
            }
            @for arrow in arrows { (render_arrow(catalog, arrow, &boxes, &tip)) }
            @for (node, place) in &boxes { (render_box(catalog, node, place, marked)) }
        }
    }
}

fn node_name<'a>(catalog: &'a Catalog, node: &'a GraphNode) -> &'a str {
    match node {
        Ok(index) => &catalog.entries[*index].qualified_name,
        Err(id) => id,
    }
}

fn place_boxes(catalog: &Catalog, arrows: &[&DependencyArrow]) -> BTreeMap<GraphNode, NodeBox> {
    let columns = assign_columns(arrows);
    let mut widths = [0; COLUMNS_MAX + 1];
    let mut boxes = BTreeMap::new();
    for (node, column) in &columns {
        let lines = wrap_name(node_name(catalog, node));
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let (width, height) = (longest * LETTER_WIDTH + 2 * PADDING, lines.len() * LINE_HEIGHT + PADDING);
        widths[*column] = widths[*column].max(width);
        boxes.insert(node.clone(), NodeBox { x: 0, y: 0, width, height, lines });
    }
    let mut bottoms = [MARGIN; COLUMNS_MAX + 1];
    for (node, column) in &columns {
        let Some(place) = boxes.get_mut(node) else { continue };
        let left: usize = widths[..*column].iter().filter(|width| **width > 0).map(|width| width + GAP_X).sum();
        (place.x, place.y, place.width) = (left + MARGIN, bottoms[*column], widths[*column]);
        bottoms[*column] += place.height + GAP_Y;
    }
    // Short columns are centered beside long ones.
    let bottom = bottoms.iter().max().copied().unwrap_or(0);
    for (node, column) in &columns {
        if let Some(place) = boxes.get_mut(node) {
            place.y += (bottom - bottoms[*column]) / 2;
        }
    }
    boxes
}

/// Assigns every box a column to the right of all boxes that need it. A cycle ends at the maximum column.
fn assign_columns(arrows: &[&DependencyArrow]) -> BTreeMap<GraphNode, usize> {
    let mut needs: BTreeMap<GraphNode, BTreeSet<GraphNode>> = BTreeMap::new();
    for arrow in arrows {
        needs.entry(Ok(arrow.from)).or_default().insert(arrow.to.clone());
    }
    let mut columns: BTreeMap<GraphNode, usize> = needs.keys().map(|node| (node.clone(), 0)).collect();
    // After as many rounds as there are boxes, all columns except those of cycles are final.
    for _ in 0..needs.len().min(ROUNDS_MAX) {
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

/// Breaks a name into at most two lines, after a hyphen or another separator if one is near.
fn wrap_name(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LINE_CHARS {
        return vec![name.to_owned()];
    }
    let near = letters[..LINE_CHARS].iter().rposition(|letter| "-_:./ ".contains(*letter));
    let end = near.filter(|at| *at >= LINE_CHARS_MIN).map_or(LINE_CHARS, |at| at + 1);
    let rest: String = letters[end..].iter().collect();
    vec![letters[..end].iter().collect(), truncate_at_word(&rest, LINE_CHARS)]
}

/// Renders the curve of an arrow.
fn render_arrow(catalog: &Catalog, arrow: &DependencyArrow, boxes: &BTreeMap<GraphNode, NodeBox>, tip: &str) -> Markup {
    let (Some(from), Some(to)) = (boxes.get(&Ok(arrow.from)), boxes.get(&arrow.to)) else {
        return Markup::default();
    };
    let (x1, y1, x2, y2) = (from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2);
    let middle = usize::midpoint(x1, x2);
    let curve = format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}");
    let class = if arrow.is_met { "met" } else { "unmet" };
    let about = format!(
        "{} needs {}: {}",
        catalog.entries[arrow.from].qualified_name,
        node_name(catalog, &arrow.to),
        arrow.state
    );
    html! { path class=(class) d=(curve) marker-end={ "url(#" (tip) ")" } { title { (about) } } }
}

/// Renders a box with the name of a skill. It links to the skill if the skill exists. Its tooltip has the status.
fn render_box(catalog: &Catalog, node: &GraphNode, place: &NodeBox, marked: Option<usize>) -> Markup {
    let status = node.as_ref().map_or("unknown", |index| catalog.entries[*index].status.name());
    let is_marked = marked.is_some() && node.as_ref().ok().copied() == marked;
    let about = match node {
        Ok(index) => format!("{}: {status}", catalog.entries[*index].qualified_name),
        Err(id) => format!("{id}: no skill has this name"),
    };
    let drawing = html! {
        rect class={ "node " (status) @if is_marked { " marked" } } x=(place.x) y=(place.y)
            width=(place.width) height=(place.height) rx="8" {}
        text {
            @for (number, line) in place.lines.iter().enumerate() {
                tspan x=(place.x + PADDING) y=(place.y + PADDING / 2 + LINE_HEIGHT * (number + 1) - 4) { (line) }
            }
        }
    };
    html! {
        g {
            title { (about) }
            @match node {
                Ok(index) => { a href=(layout::skill_address(catalog, *index)) { (drawing) } }
                Err(_) => (drawing),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_has_two_lines_and_loses_nothing_that_fits() {
        assert_eq!(wrap_name("csv-profile"), ["csv-profile"]);
        let name = "01-initialize-software-requirements";
        assert_eq!(wrap_name(name).concat(), name);
        assert_eq!(wrap_name("ecological-genomics/biodiversity")[0], "ecological-genomics/");
        assert!(wrap_name(&"x".repeat(90))[1].ends_with('…'));
    }
}
