//! The graph page: dependencies between skills, as pictures and as a list, of all skills or around a single one.
//!
//! Skills that depend on each other share a picture. Pictures are placed side by side, as many as fit the screen.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use rep_library::{Catalog, DependencyState};

use super::graph_picture::render_picture;
use super::html::{format_count, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse};

/// The maximum number of skills in all pictures and of dependencies in the list.
const DRAWN_MAX: usize = 300;
const LISTED_MAX: usize = 500;
/// The maximum distance from a single skill, and the maximum number of dependencies around it.
const STEPS_MAX: usize = 2;
const AROUND_MAX: usize = 60;

/// A dependency: the dependent skill, the skill it needs, and the state.
pub(super) struct DependencyArrow {
    pub(super) from: usize,
    pub(super) to: GraphNode,
    pub(super) is_met: bool,
    pub(super) state: &'static str,
}

/// A box of the picture: an entry of the catalog, or an id without an entry.
pub(super) type GraphNode = Result<usize, String>;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    if request.fields.has("name") {
        return render_one(request);
    }
    let arrows = find_arrows(request);
    let all: Vec<&DependencyArrow> = arrows.iter().collect();
    let groups = connected_groups(&all);
    let mut rest = DRAWN_MAX;
    let fits = |group: &&Vec<&DependencyArrow>| {
        rest = rest.saturating_sub(group.len());
        rest > 0
    };
    let drawn: Vec<&Vec<&DependencyArrow>> = groups.iter().take_while(fits).collect();
    let body = html! {
        div class="title" {
            h1 { "Graph" }
            p class="lead" { "Skills that need other skills: " (count_dependencies(arrows.len())) "." }
        }
        @if arrows.is_empty() {
            p class="card" {
                "No skill declares a dependency. Declare one with " code { "depends_on" } " in the frontmatter."
            }
        } @else {
            section class="card" {
                h2 { "Picture" }
                (render_legend())
                div class="graphs" {
                    @for (number, group) in drawn.iter().enumerate() {
                        div class="scroll" tabindex="0" role="group" aria-label={ "Picture " (number + 1) } {
                            (render_picture(&request.view.catalog, group, None, number))
                        }
                    }
                }
                @if drawn.len() < groups.len() {
                    p class="muted" {
                        (format_count(groups.len() - drawn.len(), "further group")) " of skills in the list. "
                        "The page of a skill has a picture of its own neighbors."
                    }
                }
            }
            section class="card" {
                h2 { "List" }
                div class="scroll" tabindex="0" role="region" aria-label="Dependencies" {
                    (render_list(&request.view.catalog, &all))
                }
            }
        }
    };
    PageResponse::Page(PageLocation::Graph, "Graph".to_owned(), body)
}

/// Renders the graph around a single skill.
fn render_one(request: &PageRequest) -> PageResponse {
    let Some((index, entry)) = layout::find_entry(request) else {
        return PageResponse::Missing(format!("The skill “{}” does not exist.", request.fields.get("name")));
    };
    let arrows = find_arrows(request);
    let around = find_neighbours(&arrows, index);
    let body = html! {
        nav class="trail" aria-label="Breadcrumb" {
            a href="/graph" { "Graph" } " / " (layout::render_skill_link(&request.view.catalog, index))
        }
        div class="title" {
            h1 { "Around " bdi { (truncate_at_word(&entry.qualified_name, 80)) } }
            p class="lead" { (count_dependencies(around.len())) " within two steps." }
        }
        section class="card" {
            (render_neighbourhood_picture(request, &around, index))
            @if !around.is_empty() {
                div class="scroll" tabindex="0" role="region" aria-label="Dependencies" {
                    (render_list(&request.view.catalog, &around))
                }
            }
        }
    };
    PageResponse::Page(PageLocation::Graph, format!("Graph: {}", entry.qualified_name), body)
}

/// Renders the neighbors of a skill for its page, or nothing if it has none.
pub(super) fn render_neighbourhood(request: &PageRequest, index: usize) -> Markup {
    let arrows = find_arrows(request);
    let around = find_neighbours(&arrows, index);
    let address = layout::skill_address(&request.view.catalog, index).replacen("/skill", "/graph", 1);
    html! {
        @if !around.is_empty() {
            section class="card" aria-labelledby="neighbours" {
                h2 id="neighbours" { "Needs and needed by" }
                (render_neighbourhood_picture(request, &around, index))
                p { a href=(address) { "Open the graph around this skill" } }
            }
        }
    }
}

fn render_neighbourhood_picture(request: &PageRequest, around: &[&DependencyArrow], index: usize) -> Markup {
    html! {
        @if around.is_empty() {
            p { "This skill needs no other skill, and no other skill needs it." }
        } @else {
            (render_legend())
            div class="scroll" tabindex="0" role="group" aria-label="Picture" {
                (render_picture(&request.view.catalog, around, Some(index), 0))
            }
        }
    }
}

/// Renders what the colors and lines of a picture mean.
fn render_legend() -> Markup {
    html! {
        ul class="legend graph-legend" {
            li class="active" { "active" }
            li class="untrusted" { "shadowed, untrusted or disabled" }
            li class="invalid" { "missing or invalid" }
            li class="met" { "needs" }
            li class="unmet" { "needs, but cannot get" }
        }
    }
}

fn count_dependencies(count: usize) -> String {
    format_count(count, "dependency").replace("dependencys", "dependencies")
}

/// Returns the dependencies of all skills whose text may be shown.
fn find_arrows(request: &PageRequest) -> Vec<DependencyArrow> {
    let entries = request.view.catalog.entries.iter().enumerate();
    let shown = entries.filter(|(_, entry)| !entry.dependencies.is_empty() && !layout::is_withheld(request, entry));
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

/// Returns the dependencies within a few steps of a skill, in both directions, the nearest first.
fn find_neighbours(arrows: &[DependencyArrow], index: usize) -> Vec<&DependencyArrow> {
    let mut reached: BTreeSet<GraphNode> = BTreeSet::from([Ok(index)]);
    let mut around: Vec<&DependencyArrow> = Vec::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for _ in 0..STEPS_MAX {
        let is_near = |arrow: &DependencyArrow| reached.contains(&Ok(arrow.from)) || reached.contains(&arrow.to);
        let near: Vec<usize> =
            (0..arrows.len()).filter(|number| !taken.contains(number) && is_near(&arrows[*number])).collect();
        for number in near {
            if around.len() >= AROUND_MAX {
                return around;
            }
            taken.insert(number);
            around.push(&arrows[number]);
        }
        for arrow in &around {
            reached.insert(Ok(arrow.from));
            reached.insert(arrow.to.clone());
        }
    }
    around
}

/// Returns the box that represents the group of a box.
fn find_leader(leaders: &mut BTreeMap<GraphNode, GraphNode>, node: &GraphNode) -> GraphNode {
    let mut at = node.clone();
    while let Some(next) = leaders.get(&at).filter(|next| **next != at).cloned() {
        at = next;
    }
    leaders.insert(node.clone(), at.clone());
    at
}

/// Groups dependencies that share skills, the largest group first.
fn connected_groups<'a>(arrows: &[&'a DependencyArrow]) -> Vec<Vec<&'a DependencyArrow>> {
    // Each skill points to another one of its group, or to itself.
    let mut leaders: BTreeMap<GraphNode, GraphNode> = BTreeMap::new();
    for arrow in arrows {
        let (one, other) = (find_leader(&mut leaders, &Ok(arrow.from)), find_leader(&mut leaders, &arrow.to));
        let (low, high) = if one < other { (one, other) } else { (other, one) };
        leaders.insert(high, low);
    }
    let mut groups: BTreeMap<GraphNode, Vec<&DependencyArrow>> = BTreeMap::new();
    for arrow in arrows {
        let leader = find_leader(&mut leaders, &Ok(arrow.from));
        groups.entry(leader).or_default().push(arrow);
    }
    let mut groups: Vec<Vec<&DependencyArrow>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

fn render_list(catalog: &Catalog, arrows: &[&DependencyArrow]) -> Markup {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow(from: usize, to: usize) -> DependencyArrow {
        DependencyArrow { from, to: Ok(to), is_met: true, state: "met" }
    }

    fn pairs(arrows: &[&DependencyArrow]) -> Vec<(usize, usize)> {
        arrows.iter().map(|arrow| (arrow.from, *arrow.to.as_ref().unwrap())).collect()
    }

    #[test]
    fn skills_that_depend_on_each_other_share_a_picture() {
        let arrows = [arrow(1, 2), arrow(5, 6), arrow(3, 2), arrow(6, 5)];
        let all: Vec<&DependencyArrow> = arrows.iter().collect();
        let groups: Vec<_> = connected_groups(&all).iter().map(|group| pairs(group)).collect();
        assert_eq!(groups, [vec![(1, 2), (3, 2)], vec![(5, 6), (6, 5)]]);
    }

    #[test]
    fn the_neighbourhood_has_two_steps_in_both_directions() {
        let arrows = [arrow(1, 2), arrow(2, 3), arrow(3, 4), arrow(4, 5), arrow(9, 1), arrow(7, 8)];
        assert_eq!(pairs(&find_neighbours(&arrows, 2)), [(1, 2), (2, 3), (3, 4), (9, 1)]);
        assert!(find_neighbours(&arrows, 6).is_empty());
    }
}
