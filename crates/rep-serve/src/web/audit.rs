//! The record of what ran, with filters.

use serde_json::Value;

use super::fields::encoded;
use super::html::{Html, html, put};
use super::layout::{self, Here};
use super::{Asked, Shown, runs};
use crate::office::Wanted;

/// How many runs a page shows, and the most that can be wanted.
const RUNS_USUAL: usize = 100;
const RUNS_MAX: usize = 1000;
const STATES: [&str; 5] = ["running", "ended", "refused", "cut short", "install"];

pub(super) fn show(asked: &Asked) -> Shown {
    let fields = &asked.fields;
    let most = fields.number("most").unwrap_or(RUNS_USUAL).clamp(1, RUNS_MAX);
    let wanted = Wanted {
        skill: fields.some("skill"),
        since: fields.some("since"),
        state: fields.some("state"),
        has_denials: fields.has("denied"),
        most,
    };
    if fields.has("calls") {
        return calls(asked, &wanted);
    }
    let mut states = html!("<option value=\"\">all</option>");
    for state in STATES {
        let mark = if fields.get("state") == state { html!(" selected") } else { Html::default() };
        put!(states, "<option{}>{}</option>", mark, state);
    }
    let mut body = html!(
        "<div class=\"title\"><h1>Audit</h1><p class=\"lead\">What ran, for whom, and how it ended. Arguments are kept as a digest only; <code>rep audit verify</code> proves that nobody changed it.</p>{}</div>\
         <form class=\"search\" action=\"/audit\" method=\"get\">\
         <div class=\"grow\"><label for=\"skill\">Skill</label><input id=\"skill\" name=\"skill\" value=\"{}\"></div>\
         <div><label for=\"since\">Since</label><input id=\"since\" name=\"since\" value=\"{}\" placeholder=\"2h, 3d or a date\"></div>\
         <div><label for=\"state\">State</label><select id=\"state\" name=\"state\">{}</select></div>\
         <div class=\"check\"><input id=\"denied\" name=\"denied\" type=\"checkbox\" value=\"1\"{}><label for=\"denied\">only with denials</label></div>\
         <button class=\"primary\">Show</button></form>",
        kinds(false),
        fields.get("skill"),
        fields.get("since"),
        states,
        if wanted.has_denials { html!(" checked") } else { Html::default() }
    );
    match asked.web.office.runs(&wanted) {
        Err(reason) => put!(body, "{}", layout::trouble(&reason)),
        Ok(trail) if trail.runs.is_empty() => {
            let is_all = ["skill", "since", "state", "denied"].iter().all(|name| fields.get(name).is_empty());
            let words = if is_all { "Nothing ran yet." } else { "No run is like that." };
            put!(body, "<p class=\"card muted\">{}</p>", words);
        }
        Ok(trail) => {
            let more = if trail.total > trail.runs.len() && most < RUNS_MAX {
                let denied = if wanted.has_denials { "&denied=1" } else { "" };
                let field = |name: &str| encoded(fields.get(name));
                let (skill, since, state) = (field("skill"), field("since"), field("state"));
                let to = format!("/audit?skill={skill}&since={since}&state={state}{denied}&most={RUNS_MAX}");
                html!("<p><a href=\"{}\">Show more</a></p>", to)
            } else {
                Html::default()
            };
            put!(
                body,
                "<section class=\"card\"><h2>Runs <span class=\"number\">{} of {}</span></h2>{}{}</section>",
                trail.runs.len(),
                trail.total,
                runs::table(&trail.runs, true),
                more
            );
        }
    }
    Shown::Page(Here::Audit, "Audit".to_owned(), body)
}

/// The two records there are, and which is shown.
fn kinds(is_calls: bool) -> Html {
    let link = |to: &str, name: &str, is_here: bool| {
        let mark = if is_here { html!(" aria-current=\"page\"") } else { Html::default() };
        html!("<a href=\"{}\"{}>{}</a>", to, mark, name)
    };
    html!(
        "<nav class=\"kinds\" aria-label=\"Records\">{} {}</nav>",
        link("/audit", "Runs", !is_calls),
        link("/audit?calls=1", "Calls", is_calls)
    )
}

/// The page of what clients asked.
fn calls(asked: &Asked, wanted: &Wanted) -> Shown {
    let fields = &asked.fields;
    let mut body = html!(
        "<div class=\"title\"><h1>Audit</h1><p class=\"lead\">What clients asked this user's servers, and what came of it. Arguments are kept as a digest only.</p>{}</div>\
         <form class=\"search\" action=\"/audit\" method=\"get\"><input type=\"hidden\" name=\"calls\" value=\"1\">\
         <div class=\"grow\"><label for=\"skill\">Skill</label><input id=\"skill\" name=\"skill\" value=\"{}\"></div>\
         <div><label for=\"since\">Since</label><input id=\"since\" name=\"since\" value=\"{}\" placeholder=\"2h, 3d, 2026-11-01\"></div>\
         <button class=\"primary\">Show</button></form>",
        kinds(true),
        fields.get("skill"),
        fields.get("since")
    );
    match asked.web.office.calls(wanted) {
        Err(reason) => put!(body, "{}", layout::trouble(&reason)),
        Ok(trail) if trail.calls.is_empty() => put!(body, "<p class=\"card muted\">No call is like that.</p>"),
        Ok(trail) => {
            let mut rows = Html::default();
            for call in &trail.calls {
                put!(rows, "{}", row(call));
            }
            put!(
                body,
                "<section class=\"card\"><h2>Calls <span class=\"number\">{} of {}</span></h2>\
                 <div class=\"scroll\" tabindex=\"0\"><table class=\"runs\"><thead><tr><th scope=\"col\">Call</th><th scope=\"col\">Outcome</th>\
                 <th scope=\"col\">At (UTC)</th><th scope=\"col\">Took</th><th scope=\"col\">Who</th></tr></thead><tbody>{}</tbody></table></div></section>",
                trail.calls.len(),
                trail.total,
                rows
            );
            if trail.total > trail.calls.len() && wanted.most < RUNS_MAX {
                let (skill, since) = (encoded(fields.get("skill")), encoded(fields.get("since")));
                let to = format!("/audit?calls=1&skill={skill}&since={since}&most={RUNS_MAX}");
                put!(body, "<p><a href=\"{}\">Show more</a></p>", to);
            }
        }
    }
    Shown::Page(Here::Audit, "Audit: calls".to_owned(), body)
}

/// One call.
fn row(call: &Value) -> Html {
    let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default();
    let outcome = text("outcome");
    let colour = match outcome {
        "ok" => "active",
        "asked" | "task" => "running",
        _ => "invalid",
    };
    let took = call.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
    html!(
        "<tr><td>{} <b><bdi>{}</bdi></b></td><td><span class=\"pill {}\">{}</span></td>\
         <td><time datetime=\"{}\">{}</time></td><td class=\"amount\">{} ms</td><td>{}</td></tr>",
        text("method"),
        text("target"),
        colour,
        outcome,
        text("at"),
        text("at").replace('T', " ").trim_end_matches('Z'),
        took,
        who(text("who"), text("bearer"))
    )
}

/// Who made a call: what is proven first.
fn who(said: &str, bearer: &str) -> Html {
    if bearer.is_empty() { html!("{}", said) } else { html!("<b>{}</b> {}", bearer, said) }
}
