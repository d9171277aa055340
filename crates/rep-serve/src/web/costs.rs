//! What the catalogue costs, against a budget, and which skills cost most, tier by tier.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rep_library::budget;
use rep_library::disclose::{Detail, Locations, Style};
use rep_library::dossier::Dossier;

use super::chart::{self, Bar};
use super::html::{Html, counted, cut, grouped, html};
use super::layout::{self, Here};
use super::{Asked, Shown};

/// The budget where nobody says another.
const BUDGET: usize = 8000;
/// How many skills are weighed tier by tier.
const COSTLIEST: usize = 20;

/// What was weighed, for as long as nothing changes.
#[derive(Default)]
pub(super) struct Weights(Mutex<Weighed>);

#[derive(Default)]
struct Weighed {
    mark: u64,
    costliest: Option<Arc<Vec<(usize, usize)>>>,
    fits: BTreeMap<usize, Arc<Fit>>,
    tiers: BTreeMap<usize, [usize; 3]>,
}

/// What a budget makes of the catalogue.
struct Fit {
    wanted: usize,
    tokens: usize,
    full: usize,
    shortened: usize,
    named: usize,
    dropped: usize,
}

impl Weights {
    /// What was weighed of this snapshot.
    fn of<T>(&self, mark: u64, look: impl FnOnce(&mut Weighed) -> T) -> T {
        let mut weighed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if weighed.mark != mark || weighed.fits.len() > 64 {
            *weighed = Weighed { mark, ..Weighed::default() };
        }
        look(&mut weighed)
    }
}

pub(super) fn show(asked: &Asked) -> Shown {
    let budget = asked.fields.number("budget").unwrap_or(BUDGET);
    let fit = fit(asked, budget);
    let told = fit.full + fit.shortened + fit.named + fit.dropped;
    let parts = [(fit.full, "one"), (fit.shortened, "two"), (fit.named, "three"), (fit.dropped, "none")];
    let verdict = match (fit.wanted <= budget, fit.dropped) {
        (true, _) => html!("<p class=\"alert good\">Every description fits.</p>"),
        (false, 0) => html!("<p class=\"alert\">Not every description fits: some are shortened or left out.</p>"),
        (false, dropped) => {
            let them = if dropped == 1 { "it" } else { "them" };
            html!(
                "<p class=\"alert bad\">No room for {}: a model would not know of {}.</p>",
                counted(dropped, "skill"),
                them
            )
        }
    };
    let scale = [
        Bar { label: html!("All of it"), parts: vec![(fit.wanted, "one")], note: String::new() },
        Bar { label: html!("Budget"), parts: vec![(budget, "three")], note: String::new() },
        Bar { label: html!("What is told"), parts: vec![(fit.tokens, "two")], note: String::new() },
    ];
    let body = html!(
        "<div class=\"title\"><h1>Costs</h1><p class=\"lead\">What knowing of all skills costs a model, in every request.</p></div>\
         <section class=\"card\"><h2>The catalogue against a budget</h2>\
         <form class=\"search\" action=\"/costs\" method=\"get\"><div><label for=\"budget\">Budget in tokens</label>\
         <input id=\"budget\" name=\"budget\" type=\"number\" min=\"1\" max=\"10000000\" value=\"{}\"></div><button class=\"primary\">Fit</button></form>\
         {}{}<h3>What is told of each skill</h3>{}<ul class=\"legend\"><li class=\"one\">{} whole</li><li class=\"two\">{} shortened</li>\
         <li class=\"three\">{} by name alone</li><li class=\"none\">{} dropped</li></ul></section>\
         <section class=\"card\"><h2>The costliest skills</h2><p class=\"muted\">By their entry in the catalogue, which is always there; with what using one and reading all its files adds.</p>\
         <ul class=\"legend\"><li class=\"one\">catalogue</li><li class=\"two\">activation</li><li class=\"three\">resources</li></ul>{}</section>",
        budget,
        verdict,
        chart::bars(&scale, "tokens"),
        chart::stacked(&parts, told),
        grouped(fit.full),
        grouped(fit.shortened),
        grouped(fit.named),
        grouped(fit.dropped),
        costliest(asked)
    );
    Shown::Page(Here::Costs, "Costs".to_owned(), body)
}

fn fit(asked: &Asked, budget: usize) -> Arc<Fit> {
    let mark = asked.shelf.mark;
    if let Some(fit) = asked.web.weights.of(mark, |weighed| weighed.fits.get(&budget).cloned()) {
        return fit;
    }
    let fit = match budget::fit(&asked.shelf.catalog, Style::Xml, Locations::Shown, budget) {
        Ok(fitted) => Fit {
            wanted: fitted.wanted,
            tokens: fitted.tokens,
            full: fitted.with(Detail::Full).count(),
            shortened: fitted.with(Detail::Shortened).count(),
            named: fitted.with(Detail::Name).count(),
            dropped: fitted.dropped.len(),
        },
        Err(small) => {
            Fit { wanted: small.wanted, tokens: 0, full: 0, shortened: 0, named: 0, dropped: asked.shelf.active.len() }
        }
    };
    let fit = Arc::new(fit);
    asked.web.weights.of(mark, |weighed| weighed.fits.insert(budget, Arc::clone(&fit)));
    fit
}

fn costliest(asked: &Asked) -> Html {
    let mark = asked.shelf.mark;
    let known = asked.web.weights.of(mark, |weighed| weighed.costliest.clone());
    let all = known.unwrap_or_else(|| {
        let cost = |index: &usize| (budget::cost(&asked.shelf.catalog.entries[*index]), *index);
        let mut all: Vec<(usize, usize)> = asked.shelf.active.iter().map(cost).collect();
        all.sort_by_key(|(cost, index)| (std::cmp::Reverse(*cost), *index));
        all.truncate(COSTLIEST);
        let all = Arc::new(all);
        asked.web.weights.of(mark, |weighed| weighed.costliest = Some(Arc::clone(&all)));
        all
    });
    let bars: Vec<Bar> = all.iter().map(|(cost, index)| bar(asked, *index, *cost)).collect();
    chart::bars(&bars, "tokens")
}

fn bar(asked: &Asked, index: usize, cost: usize) -> Bar {
    let entry = &asked.shelf.catalog.entries[index];
    let mark = asked.shelf.mark;
    let known = asked.web.weights.of(mark, |weighed| weighed.tiers.get(&index).copied());
    let [catalogue, activation, resources] = known.unwrap_or_else(|| {
        let tiers = Dossier::of(entry).map_or([cost, 0, 0], |dossier| {
            let footprint = &dossier.footprint;
            [footprint.catalogue, footprint.activation.unwrap_or(0), footprint.resources]
        });
        asked.web.weights.of(mark, |weighed| weighed.tiers.insert(index, tiers));
        tiers
    });
    let label = html!(
        "<a href=\"{}\"><bdi>{}</bdi></a>",
        layout::address(&asked.shelf.catalog, index),
        cut(&entry.qualified_name, 60)
    );
    let note = format!("{} always", grouped(catalogue));
    Bar { label, parts: vec![(catalogue, "one"), (activation, "two"), (resources, "three")], note }
}
