//! The costs page: the token cost of the catalog compared with a budget, and the most expensive skills by tier.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use parking_lot::Mutex;
use rep_library::budget;
use rep_library::prompt::{CatalogFormat, EntryDetail, LocationDisplay};

use super::chart::{self, ChartBar};
use super::html::{format_count, group_thousands, truncate_at_word};
use super::inspection::InspectedSkill;
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse};

/// The default budget in tokens.
const BUDGET_DEFAULT: usize = 8000;
/// The number of skills that are shown by tier.
const COSTLIEST_MAX: usize = 20;
/// The number of budgets that are remembered.
const BUDGETS_MAX: usize = 64;

/// The results computed for a snapshot.
#[derive(Default)]
pub(super) struct CostCache(Mutex<SnapshotCosts>);

#[derive(Default)]
struct SnapshotCosts {
    generation: u64,
    fits: BTreeMap<usize, Arc<BudgetFit>>,
}

/// The catalog fitted into a budget.
struct BudgetFit {
    wanted: usize,
    tokens: usize,
    full: usize,
    shortened: usize,
    named: usize,
    dropped: usize,
}

impl CostCache {
    /// Accesses the results for this snapshot.
    fn with_snapshot<T>(&self, generation: u64, access: impl FnOnce(&mut SnapshotCosts) -> T) -> T {
        let mut costs = self.0.lock();
        if costs.generation != generation || costs.fits.len() > BUDGETS_MAX {
            *costs = SnapshotCosts { generation, ..SnapshotCosts::default() };
        }
        access(&mut costs)
    }
}

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let budget = request.fields.parse_number("budget").unwrap_or(BUDGET_DEFAULT);
    let fit = fit_budget(request, budget);
    let total = fit.full + fit.shortened + fit.named + fit.dropped;
    let parts = [(fit.full, "one"), (fit.shortened, "two"), (fit.named, "three"), (fit.dropped, "none")];
    let bar = |label: &str, tokens: usize, colour: &'static str| ChartBar {
        label: html! { (label) },
        parts: vec![(tokens, colour)],
        note: String::new(),
    };
    let scale = [
        bar("Complete catalog", fit.wanted, "one"),
        bar("Budget", budget, "three"),
        bar("After fitting", fit.tokens, "two"),
    ];
    let legend = |colour: &str, text: String| html! { li class=(colour) { (text) } };
    let body = html! {
        div class="title" {
            h1 { "Costs" }
            p class="lead" {
                "What skills cost in tokens. A host that lists all skills for the model pays for the catalog in every "
                "request; clients of this server search, and pay only for what they load."
            }
        }
        section class="card" {
            h2 { "Catalog and budget" }
            form class="search" action="/costs" method="get" {
                div {
                    label for="budget" { "Budget in tokens" }
                    input id="budget" name="budget" type="number" min="1" max="10000000" value=(budget);
                }
                button class="primary" { "Fit" }
            }
            (render_verdict(&fit, budget))
            (chart::render_bars(&scale, "tokens"))
            h3 { "Skills by level of detail" }
            (chart::render_stacked_bar(&parts, total))
            ul class="legend" {
                (legend("one", format!("{} complete", group_thousands(fit.full))))
                (legend("two", format!("{} shortened", group_thousands(fit.shortened))))
                (legend("three", format!("{} by name only", group_thousands(fit.named))))
                (legend("none", format!("{} dropped", group_thousands(fit.dropped))))
            }
        }
        section class="card" {
            h2 { "The most expensive skills" }
            p class="muted" {
                "By the tokens of the whole skill. Only the catalog entry is always in context; the instructions are added "
                "when the skill is used, and its files when they are read."
            }
            ul class="legend" {
                li class="one" { "catalog entry" }
                li class="two" { "instructions" }
                li class="three" { "files" }
            }
            (render_costliest(request))
        }
    };
    PageResponse::Page(PageLocation::Costs, "Costs".to_owned(), body)
}

fn render_verdict(fit: &BudgetFit, budget: usize) -> Markup {
    html! {
        @match (fit.wanted <= budget, fit.dropped) {
            (true, _) => { p class="alert good" { "All descriptions fit." } }
            (false, 0) => { p class="alert" { "Some descriptions do not fit and are shortened or omitted." } }
            (false, dropped) => {
                p class="alert" {
                    "The names of " (format_count(dropped, "skill")) " do not fit into this budget. This concerns only "
                    "hosts that put the catalog into every request, as " code { "rep prompt --budget" } " does. Clients "
                    "of this server search instead, and find every active skill."
                }
            }
        }
    }
}

fn fit_budget(request: &PageRequest, budget: usize) -> Arc<BudgetFit> {
    let (costs, view) = (&request.dashboard.costs, &request.view);
    if let Some(fit) = costs.with_snapshot(view.generation, |costs| costs.fits.get(&budget).cloned()) {
        return fit;
    }
    let fit = match budget::fit_catalog(&view.catalog, CatalogFormat::Xml, LocationDisplay::Shown, budget) {
        Ok(fitted) => BudgetFit {
            wanted: fitted.wanted,
            tokens: fitted.tokens,
            full: fitted.with_detail(EntryDetail::Full).count(),
            shortened: fitted.with_detail(EntryDetail::Shortened).count(),
            named: fitted.with_detail(EntryDetail::Name).count(),
            dropped: fitted.dropped.len(),
        },
        Err(small) => {
            BudgetFit { wanted: small.wanted, tokens: 0, full: 0, shortened: 0, named: 0, dropped: view.active.len() }
        }
    };
    let fit = Arc::new(fit);
    costs.with_snapshot(view.generation, |costs| costs.fits.insert(budget, Arc::clone(&fit)));
    fit
}

/// Renders the skills with the longest bars, the longest first.
fn render_costliest(request: &PageRequest) -> Markup {
    let view = &request.view;
    let inspected = request.dashboard.inspections.inspect(request);
    let known = |index: &usize| inspected.get(*index).map(|skill| (skill, *index));
    let mut all: Vec<(InspectedSkill, usize)> = view.active.iter().filter_map(known).collect();
    all.sort_by_key(|(skill, index)| (std::cmp::Reverse(skill.total_tokens()), *index));
    let bars: Vec<ChartBar> =
        all.iter().take(COSTLIEST_MAX).map(|(skill, index)| build_skill_bar(request, *index, *skill)).collect();
    html! {
        @if inspected.remaining > 0 {
            p class="muted" {
                (format_count(inspected.remaining, "skill")) " still to be counted. Reload the page to see them."
            }
        }
        (chart::render_bars(&bars, "tokens"))
        @if all.len() > COSTLIEST_MAX { p { a href="/?view=table&sort=tokens" { "All skills by tokens" } } }
    }
}

fn build_skill_bar(request: &PageRequest, index: usize, skill: InspectedSkill) -> ChartBar {
    let view = &request.view;
    let [catalog, activation, resources] = skill.tokens;
    let name = truncate_at_word(&view.catalog.entries[index].qualified_name, 60);
    let parts = [(catalog, "in the catalog"), (activation, "when used"), (resources, "in files")];
    let note: Vec<String> = parts
        .iter()
        .filter(|(tokens, _)| *tokens > 0)
        .map(|(tokens, place)| format!("{} {place}", group_thousands(*tokens)))
        .collect();
    ChartBar {
        label: html! { a href=(layout::skill_address(&view.catalog, index)) { bdi { (name) } } },
        parts: vec![(catalog, "one"), (activation, "two"), (resources, "three")],
        note: note.join(", "),
    }
}
