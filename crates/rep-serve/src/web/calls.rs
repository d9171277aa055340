//! Running a tool from the page, and what came of it.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value};

use super::fields::{Fields, encoded};
use super::html::{Html, cut, html};
use super::layout::{self, Here};
use super::{Asked, Shown, Web, document, plain, runs, skill};
use crate::calls::{self, Bearer};
use crate::confirm;
use crate::runs::{Offer, Said};

/// Runs a tool that may be run. Goes on whether anybody looks at it or not.
pub(super) async fn run(
    State(web): State<Arc<Web>>,
    bearer: Option<Extension<Bearer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = super::form(&web, &headers, &body) else { return super::not_ours(&web, &headers) };
    let shared = Arc::clone(&web.shared);
    let name = fields.get("tool").to_owned();
    let found = tokio::task::spawn_blocking(move || {
        let shelf = shared.shelf();
        shelf.offers(shared.runs.as_deref()).iter().find(|offer| offer.name == name).cloned()
    });
    let Ok(Some(offer)) = found.await else {
        let words = "There is no such tool that may run here; see `--allow-run`.";
        return super::sorry(&web, &headers, StatusCode::NOT_FOUND, words);
    };
    let given = fields.get("input");
    let input: Map<String, Value> = match serde_json::from_str(if given.is_empty() { "{}" } else { given }) {
        Ok(Value::Object(input)) => input,
        Ok(_) => return again(&web, &headers, &offer, given, "The arguments are no JSON object."),
        Err(error) => {
            return again(&web, &headers, &offer, given, &format!("The arguments are no JSON: {error}."));
        }
    };
    let bearer = bearer.map(|Extension(bearer)| bearer);
    if !calls::on_page(&web.shared, bearer.as_ref(), "page/run", &offer.name, Some(&offer.skill), "begun") {
        return super::sorry(&web, &headers, StatusCode::SERVICE_UNAVAILABLE, calls::UNKEPT);
    }
    let who = bearer.map_or_else(|| "the page".to_owned(), |Bearer(bearer)| format!("{bearer}, on the page"));
    let number = web.shared.desk.begin(&offer.skill, &offer.name);
    let shared = Arc::clone(&web.shared);
    tokio::spawn(async move {
        let said = confirm::by_desk(&shared, number, offer, input, who).await;
        shared.desk.end(number, said);
    });
    super::onward(&format!("/call?number={number}"))
}

/// The form again, with what was written and what is wrong with it.
fn again(web: &Arc<Web>, headers: &HeaderMap, offer: &Offer, given: &str, wrong: &str) -> Response {
    if !super::is_person(headers) {
        return plain(StatusCode::BAD_REQUEST, format!("{wrong}\n"));
    }
    let asked = web.asked(headers, Fields::default());
    let body = html!(
        "<nav class=\"trail\" aria-label=\"Breadcrumb\"><a href=\"/runs\">Runs</a> / <a href=\"/skill?name={}\"><bdi>{}</bdi></a></nav>\
         <div class=\"title\"><h1><bdi>{}</bdi></h1></div>{}<section class=\"card tool\"><h2>Once more</h2>{}{}</section>",
        encoded(&offer.skill),
        offer.skill,
        offer.name,
        layout::trouble(wrong),
        skill::run_form(&asked, offer, given),
        skill::schema("Takes", offer.listed.get("inputSchema"))
    );
    document(StatusCode::BAD_REQUEST, layout::page(&asked, Here::Elsewhere, &offer.name, &body))
}

/// A call, and what came of it.
pub(super) fn show(asked: &Asked) -> Shown {
    let number = asked.fields.number("number").unwrap_or(0) as u64;
    let Some(call) = asked.web.shared.desk.call(number) else {
        return Shown::Missing("This call is not remembered; the audit has it.".to_owned());
    };
    let mut questions = asked.web.shared.desk.questions_from(number);
    questions.retain(|question| question.call == Some(number));
    let state = match &call.said {
        None if questions.iter().any(|question| question.end.is_none()) => {
            html!("<p><span class=\"pill untrusted\">waiting</span> for your answer</p>")
        }
        None => html!("<p><span class=\"pill running\">running</span></p>"),
        Some(Said::Result(value)) => result("active", "done", value),
        Some(Said::Error(value)) => result("invalid", "failed", value),
        Some(Said::Question { text, .. }) => html!("<p>{}</p>", text),
    };
    let back = html!("<input type=\"hidden\" name=\"call\" value=\"{}\">", number);
    let asking = if questions.is_empty() { Html::default() } else { runs::list_of(asked, &questions, &back) };
    let state = html!("{}{}", asking, state);
    if asked.is_part() {
        return Shown::Part(state);
    }
    let again = format!("/skill?name={}", encoded(&call.skill));
    let body = html!(
        "<nav class=\"trail\" aria-label=\"Breadcrumb\"><a href=\"/runs\">Runs</a> / <a href=\"{}\"><bdi>{}</bdi></a></nav>\
         <div class=\"title\"><h1><bdi>{}</bdi></h1></div><section class=\"card\"><h2>What came of it</h2>\
         <div id=\"live\" aria-live=\"polite\" data-part=\"/call?number={}&amp;part=1\" data-on=\"runs\">{}</div></section><p><a href=\"/call?number={}\">Load again</a></p>",
        again,
        call.skill,
        call.tool,
        number,
        state,
        number
    );
    Shown::Page(Here::Call, call.tool, body)
}

fn result(colour: &str, word: &str, value: &Value) -> Html {
    html!(
        "<p><span class=\"pill {}\">{}</span></p><pre tabindex=\"0\"><code>{}</code></pre>",
        colour,
        word,
        cut(&format!("{value:#}"), 40_000)
    )
}
