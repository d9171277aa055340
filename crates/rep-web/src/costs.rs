//! What the catalog costs against a budget, and which skills cost most, tier by tier.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use parking_lot::Mutex;
use rep_library::budget;
use rep_library::disclose::{Detail, Locations, Style};
use rep_library::dossier::Dossier;

use super::chart::{self, Bar};
use super::html::{counted, grouped, truncate};
use super::layout::{self, Location};
use super::{PageRequest, PageResponse};

/// The default budget.
const BUDGET: usize = 8000;
/// How many skills are shown tier by tier.
const COSTLIEST: usize = 20;
/// How many budgets are remembered.
const BUDGETS_MAX: usize = 64;

/// What was computed for a snapshot.
#[derive(Default)]
pub(super) struct CostCache(Mutex<SnapshotCosts>);

#[derive(Default)]
struct SnapshotCosts {
    generation: u64,
    costliest: Option<Arc<Vec<(usize, usize)>>>,
    fits: BTreeMap<usize, Arc<BudgetFit>>,
    tiers: BTreeMap<usize, [usize; 3]>,
}

/// What a budget makes of the catalog.
struct BudgetFit {
    wanted: usize,
    tokens: usize,
    full: usize,
    shortened: usize,
    named: usize,
    dropped: usize,
}

impl CostCache {
    /// Accesses what was computed for this snapshot.
    fn access<T>(&self, generation: u64, access: impl FnOnce(&mut SnapshotCosts) -> T) -> T {
        let mut costs = self.0.lock();
        if costs.generation != generation || costs.fits.len() > BUDGETS_MAX {
            *costs = SnapshotCosts { generation, ..SnapshotCosts::default() };
        }
        access(&mut costs)
    }
}

pub(super) fn render(request: &PageRequest) -> PageResponse {
    let budget = request.fields.number("budget").unwrap_or(BUDGET);
    let fit = fit_budget(request, budget);
    let total = fit.full + fit.shortened + fit.named + fit.dropped;
    let parts = [(fit.full, "one"), (fit.shortened, "two"), (fit.named, "three"), (fit.dropped, "none")];
    let bar = |label: &str, tokens: usize, colour: &'static str| Bar {
        label: html! { (label) },
        parts: vec![(tokens, colour)],
        note: String::new(),
    };
    let scale =
        [bar("All of it", fit.wanted, "one"), bar("Budget", budget, "three"), bar("What is told", fit.tokens, "two")];
    let legend = |colour: &str, text: String| html! { li class=(colour) { (text) } };
    let body = html! {
        div class="title" {
            h1 { "Costs" }
            p class="lead" { "What knowing of all skills costs a model, in every request." }
        }
        section class="card" {
            h2 { "The catalogue against a budget" }
            form class="search" action="/costs" method="get" {
                div {
                    label for="budget" { "Budget in tokens" }
                    input id="budget" name="budget" type="number" min="1" max="10000000" value=(budget);
                }
                button class="primary" { "Fit" }
            }
            (verdict(&fit, budget))
            (chart::bars(&scale, "tokens"))
            h3 { "What is told of each skill" }
            (chart::stacked(&parts, total))
            ul class="legend" {
                (legend("one", format!("{} whole", grouped(fit.full))))
                (legend("two", format!("{} shortened", grouped(fit.shortened))))
                (legend("three", format!("{} by name alone", grouped(fit.named))))
                (legend("none", format!("{} dropped", grouped(fit.dropped))))
            }
        }
        section class="card" {
            h2 { "The costliest skills" }
            p class="muted" {
                "By their entry in the catalogue, which is always there; with what using one and reading all its files adds."
            }
            ul class="legend" {
                li class="one" { "catalogue" }
                li class="two" { "activation" }
                li class="three" { "resources" }
            }
            (costliest(request))
        }
    };
    PageResponse::Page(Location::Costs, "Costs".to_owned(), body)
}

fn verdict(fit: &BudgetFit, budget: usize) -> Markup {
    html! {
        @match (fit.wanted <= budget, fit.dropped) {
            (true, _) => { p class="alert good" { "Every description fits." } }
            (false, 0) => { p class="alert" { "Not every description fits: some are shortened or left out." } }
            (false, dropped) => {
                p class="alert bad" {
                    "No room for " (counted(dropped, "skill")) ": a model would not know of "
                    @if dropped == 1 { "it" } @else { "them" } "."
                }
            }
        }
    }
}

fn fit_budget(request: &PageRequest, budget: usize) -> Arc<BudgetFit> {
    let (costs, view) = (&request.dashboard.costs, &request.view);
    if let Some(fit) = costs.access(view.generation, |costs| costs.fits.get(&budget).cloned()) {
        return fit;
    }
    let fit = match budget::fit(&view.catalog, Style::Xml, Locations::Shown, budget) {
        Ok(fitted) => BudgetFit {
            wanted: fitted.wanted,
            tokens: fitted.tokens,
            full: fitted.with(Detail::Full).count(),
            shortened: fitted.with(Detail::Shortened).count(),
            named: fitted.with(Detail::Name).count(),
            dropped: fitted.dropped.len(),
        },
        Err(small) => {
            BudgetFit { wanted: small.wanted, tokens: 0, full: 0, shortened: 0, named: 0, dropped: view.active.len() }
        }
    };
    let fit = Arc::new(fit);
    costs.access(view.generation, |costs| costs.fits.insert(budget, Arc::clone(&fit)));
    fit
}

fn costliest(request: &PageRequest) -> Markup {
    let (costs, view) = (&request.dashboard.costs, &request.view);
    let known = costs.access(view.generation, |costs| costs.costliest.clone());
    let all = known.unwrap_or_else(|| {
        let cost = |index: &usize| (budget::cost(&view.catalog.entries[*index]), *index);
        let mut all: Vec<(usize, usize)> = view.active.iter().map(cost).collect();
        all.sort_by_key(|(cost, index)| (std::cmp::Reverse(*cost), *index));
        all.truncate(COSTLIEST);
        let all = Arc::new(all);
        costs.access(view.generation, |costs| costs.costliest = Some(Arc::clone(&all)));
        all
    });
    let bars: Vec<Bar> = all.iter().map(|(cost, index)| skill_bar(request, *index, *cost)).collect();
    chart::bars(&bars, "tokens")
}

fn skill_bar(request: &PageRequest, index: usize, cost: usize) -> Bar {
    let (costs, view) = (&request.dashboard.costs, &request.view);
    let entry = &view.catalog.entries[index];
    let known = costs.access(view.generation, |costs| costs.tiers.get(&index).copied());
    let [catalog, activation, resources] = known.unwrap_or_else(|| {
        let tiers = Dossier::of(entry).map_or([cost, 0, 0], |dossier| {
            let footprint = &dossier.footprint;
            [footprint.catalogue, footprint.activation.unwrap_or(0), footprint.resources]
        });
        costs.access(view.generation, |costs| costs.tiers.insert(index, tiers));
        tiers
    });
    let name = truncate(&entry.qualified_name, 60);
    Bar {
        label: html! { a href=(layout::address(&view.catalog, index)) { bdi { (name) } } },
        parts: vec![(catalog, "one"), (activation, "two"), (resources, "three")],
        note: format!("{} always", grouped(catalog)),
    }
}
