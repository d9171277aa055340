//! What runs and what ran, as it happens, and the questions that wait for an answer.

use std::sync::{Arc, PoisonError};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::html::{Html, counted, cut, html, moment, put, worded};
use super::layout::{self, Here};
use super::{Asked, Shown, Web};
use crate::calls::{self, Bearer};
use crate::desk::{End, Question};
use crate::office::{Ran, Wanted};

/// How many runs are shown.
const RUNS_SHOWN: usize = 40;

pub(super) fn show(asked: &Asked) -> Shown {
    // Questions that were there when the page was loaded stay in their place, answered or not: none below one moves
    // under whoever is about to answer it.
    let from = asked.fields.number("from").map_or_else(|| asked.web.shared.desk.first(), |from| from as u64);
    if asked.fields.get("part") == "questions" {
        return Shown::Part(asking(asked, from));
    }
    let list = list(asked);
    if asked.is_part() {
        return Shown::Part(list);
    }
    let allowed = if asked.web.shared.runs.is_some() {
        html!("What runs, here and by <code>rep run</code>, as it happens. To run a tool, open its skill.")
    } else {
        html!(
            "What ran, by <code>rep run</code> and others. This server runs nothing; <code>--allow-run</code> lets it."
        )
    };
    let body = html!(
        "<div class=\"title\"><h1>Runs</h1><p class=\"lead\">{}</p></div>\
         <div id=\"asking\" data-part=\"/runs?part=questions&amp;from={}\" data-on=\"questions\">{}</div>\
         <div id=\"live\" data-part=\"/runs?part=1\" data-on=\"runs\">{}</div>\
         <p><a href=\"/runs\">Load again</a> · <a href=\"/audit\">the whole record</a></p>",
        allowed,
        from,
        asking(asked, from),
        list
    );
    Shown::Page(Here::Runs, "Runs".to_owned(), body)
}

fn list(asked: &Asked) -> Html {
    let mut body = Html::default();
    put!(body, "{}", going(asked));
    match asked.web.office.runs(&Wanted { most: RUNS_SHOWN, ..Wanted::default() }) {
        Err(reason) => put!(body, "{}", layout::trouble(&reason)),
        Ok(trail) if trail.runs.is_empty() => put!(body, "<p class=\"card muted\">Nothing ran yet.</p>"),
        Ok(trail) => put!(
            body,
            "<section class=\"card\"><h2>Latest <span class=\"number\">{} of {}</span></h2>{}</section>",
            trail.runs.len(),
            trail.total,
            table(&trail.runs, false)
        ),
    }
    body
}

/// The runs of this server that go on, each with a way to end it.
fn going(asked: &Asked) -> Html {
    let mut rows = Html::default();
    let running = asked.web.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
    for (number, going) in running.iter() {
        put!(
            rows,
            "<li id=\"run-{}\"><span class=\"pill running\">running</span> <b><bdi>{}</bdi></b> <span class=\"muted\">for {} s</span>\
             <form method=\"post\" action=\"/cancel\"><input type=\"hidden\" name=\"key\" value=\"{}\">\
             <input type=\"hidden\" name=\"run\" value=\"{}\"><button id=\"end-{}\" aria-label=\"Cancel {}\">Cancel</button></form></li>",
            *number,
            going.tool,
            going.since.elapsed().as_secs(),
            asked.key,
            *number,
            *number,
            going.tool
        );
    }
    if rows.is_empty() {
        return Html::default();
    }
    html!("<section class=\"card\"><h2>Going on here</h2><ul class=\"plain going\" data-keep>{}</ul></section>", rows)
}

/// What the record says of a run.
fn record(run: &Ran) -> Html {
    html!(
        "<details><summary>Record</summary><pre tabindex=\"0\"><code>{}</code></pre></details>",
        cut(&format!("{:#}", run.record), 6000)
    )
}

/// Runs as a table, perhaps with all that is on record. On a small screen every row is a card, and the roles say what
/// browsers forget of a table that is shown as something else.
pub(super) fn table(runs: &[Ran], has_records: bool) -> Html {
    let mut rows = Html::default();
    for run in runs {
        let mut denials = Html::default();
        for (action, target) in run.denials.iter().take(20) {
            put!(denials, "<li><b>denied</b> {} <code>{}</code></li>", action, target);
        }
        let denials = if denials.is_empty() { denials } else { html!("<ul class=\"denials\">{}</ul>", denials) };
        let took = run.duration_ms.map(|took| format!("{took} ms")).unwrap_or_default();
        let colour = match (run.state, run.outcome.as_str()) {
            ("running", _) => "running",
            ("ended", "ok" | "success" | "result") => "active",
            ("refused" | "cut short", _) => "untrusted",
            ("install", _) => "hidden",
            _ => "invalid",
        };
        let word = match run.outcome.as_str() {
            "" => run.state.to_owned(),
            outcome => format!("{} {outcome}", run.state),
        };
        put!(
            rows,
            "<tr role=\"row\"><td role=\"cell\"><b><bdi>{}</bdi></b>{}{}</td><td role=\"cell\"><span class=\"pill {}\">{}</span></td>\
             <td role=\"cell\">{}</td><td role=\"cell\" class=\"amount\">{}</td><td role=\"cell\" data-word=\"for\">{}</td></tr>",
            format!("{}:{}", run.skill, run.tool),
            denials,
            has_records.then(|| record(run)),
            colour,
            word,
            moment(&run.at),
            took,
            run.who
        );
    }
    html!(
        "<div class=\"scroll\"><table class=\"runs\" role=\"table\"><thead role=\"rowgroup\"><tr role=\"row\">\
         <th role=\"columnheader\" scope=\"col\">Tool</th><th role=\"columnheader\" scope=\"col\">State</th>\
         <th role=\"columnheader\" scope=\"col\">Started (UTC)</th><th role=\"columnheader\" scope=\"col\">Took</th>\
         <th role=\"columnheader\" scope=\"col\">For</th></tr></thead><tbody role=\"rowgroup\">{}</tbody></table></div>",
        rows
    )
}

/// The questions from a number on, the newest last.
fn asking(asked: &Asked, from: u64) -> Html {
    let questions = asked.web.shared.desk.questions_from(from);
    if questions.is_empty() {
        return Html::default();
    }
    let waiting = questions.iter().filter(|question| question.end.is_none()).count();
    let title = if waiting == 0 { "Answered" } else { "Waiting for your answer" };
    html!(
        "<section class=\"card asking\"><h2>{}</h2><p class=\"muted\">A run waits ten minutes, and then does not happen.</p>{}</section>",
        title,
        list_of(asked, &questions, &html!("<input type=\"hidden\" name=\"from\" value=\"{}\">", from))
    )
}

/// Questions, each with its answers, or with how it ended. `back` is where the answer leads back to.
pub(super) fn list_of(asked: &Asked, questions: &[Question], back: &Html) -> Html {
    let mut rows = Html::default();
    for question in questions {
        put!(rows, "{}", one(asked, question, back));
    }
    html!("<ul class=\"plain questions\" data-keep>{}</ul>", rows)
}

/// One question. What ended is as high as what waits.
fn one(asked: &Asked, question: &Question, back: &Html) -> Html {
    let (class, mark, said) = match question.end {
        None => ("question", Html::default(), Html::default()),
        Some(end) => ("question ended", html!(" inert"), html!("<p class=\"said\">{}</p>", ending(end))),
    };
    html!(
        "<li class=\"{}\" id=\"question-{}\" tabindex=\"-1\"><h3><bdi>{}</bdi></h3>{}\
         <div class=\"reply\"><form method=\"post\" action=\"/answer\" data-stay{}><input type=\"hidden\" name=\"key\" value=\"{}\">\
         <input type=\"hidden\" name=\"question\" value=\"{}\">{}\
         <button class=\"primary\" name=\"answer\" value=\"yes\" id=\"yes-{}\" aria-label=\"Run {} this once\">Run it this once</button> \
         <button name=\"answer\" value=\"no\" id=\"no-{}\" aria-label=\"Do not run {}\">Do not run it</button></form>{}</div></li>",
        class,
        question.number,
        question.tool,
        words(&question.text),
        mark,
        asked.key,
        question.number,
        *back,
        question.number,
        question.tool,
        question.number,
        question.tool,
        said
    )
}

/// What is asked: a line, and below it what the run may do.
fn words(text: &str) -> Html {
    let mut out = Html::default();
    let mut list = Html::default();
    for line in text.lines() {
        if line.starts_with("  ") {
            put!(list, "<li>{}</li>", worded(line.trim()));
        } else {
            put!(out, "<p>{}</p>", worded(line));
        }
    }
    html!("{}<ul class=\"words\">{}</ul>", out, list)
}

/// How a question ended, in words.
fn ending(end: End) -> &'static str {
    match end {
        End::Agreed => "Answered: run it this once.",
        End::Declined => "Answered: do not run it.",
        End::Expired => "Nobody answered in time: not run.",
        End::TakenBack => "Taken back by who asked: not run.",
    }
}

/// What every page says while questions wait.
pub(super) fn notice(asked: &Asked, here: Here) -> Html {
    let shown = asked.fields.number("number").filter(|_| here == Here::Call).map(|number| number as u64);
    let is_elsewhere = |question: &&Question| here != Here::Runs && (shown.is_none() || question.call != shown);
    let count = asked.web.shared.desk.questions().iter().filter(is_elsewhere).count();
    if count == 0 {
        return Html::default();
    }
    html!(
        "<p class=\"notice\"><a href=\"/runs\">{} for your answer</a></p>",
        if count == 1 { "A run waits".to_owned() } else { format!("{} wait", counted(count, "run")) }
    )
}

/// The notice alone.
pub(super) fn questions(asked: &Asked) -> Shown {
    let here = match asked.fields.get("here") {
        "runs" => Here::Runs,
        "call" => Here::Call,
        _ => Here::Elsewhere,
    };
    Shown::Part(notice(asked, here))
}

/// Answers a question.
pub(super) async fn answer(
    State(web): State<Arc<Web>>,
    bearer: Option<Extension<Bearer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(fields) = super::form(&web, &headers, &body) else { return super::not_ours(&web, &headers) };
    let number = fields.number("question").unwrap_or(0) as u64;
    let is_yes = fields.get("answer") == "yes";
    let bearer = bearer.map(|Extension(bearer)| bearer);
    let asked = web.shared.desk.questions_from(number).into_iter().find(|question| question.number == number);
    if let Some(question) = asked.filter(|question| question.end.is_none()) {
        let word = if is_yes { "yes" } else { "no" };
        if !calls::on_page(&web.shared, bearer.as_ref(), "page/answer", &question.tool, None, word) {
            return super::sorry(&web, &headers, StatusCode::SERVICE_UNAVAILABLE, calls::UNKEPT);
        }
    }
    // One that nobody waits for any more needs no answer.
    web.shared.desk.answer(number, is_yes);
    match (fields.number("call"), fields.number("from")) {
        (Some(call), _) => super::onward(&format!("/call?number={call}")),
        (None, Some(from)) => super::onward(&format!("/runs?from={from}#question-{number}")),
        (None, None) => super::onward("/runs"),
    }
}
