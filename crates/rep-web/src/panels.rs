//! Panels to try selecting, searching, querying and asking, each with the reasons for its answer.

use maud::{Markup, html};
use rep_library::answer::Miss;
use rep_library::ask::{self, Question, Verdict};
use rep_library::select::{Match, Request, Selected, THRESHOLD};
use rep_library::{Status, search};
use serde_json::Value;

use super::html::{code_block, truncate, with_code};
use super::layout::{self, Location};
use super::{PageRequest, PageResponse};

const HITS_MAX: usize = 10;
/// How much of an answer is shown.
const ANSWER_CHARS_MAX: usize = 20_000;

pub(super) fn render(request: &PageRequest) -> PageResponse {
    // An example that this library can answer.
    let first = request.view.active.first().map(|index| request.view.catalog.entries[*index].name.as_str());
    let example = truncate(first.unwrap_or("pdf"), 40);
    let body = html! {
        div class="title" {
            h1 { "Try it" }
            p class="lead" { "The same answers agents get, with the reasons." }
        }
        div class="panels" {
            (select_panel(request))
            (search_panel(request))
            (query_panel(request, &example))
            (ask_panel(request, &example))
        }
    };
    PageResponse::Page(Location::Try, "Try it".to_owned(), body)
}

/// A panel: a form, and the answer if this panel was sent.
fn panel(
    request: &PageRequest,
    name: &str,
    title: &str,
    about: &Markup,
    inputs: &Markup,
    answer: fn(&PageRequest) -> Markup,
) -> Markup {
    let id = format!("t-{name}");
    html! {
        section class="card" aria-labelledby=(id) {
            h2 id=(id) { (title) }
            p class="muted" { (about) }
            form action={ "/try#" (id) } method="get" {
                input type="hidden" name="panel" value=(name);
                (inputs)
                button class="primary" { (title) }
            }
            @if request.fields.get("panel") == name {
                div class="result" role="status" { (answer(request)) }
            }
        }
    }
}

/// What was entered in a field of a panel.
fn value<'a>(request: &'a PageRequest, panel: &str, field: &str) -> &'a str {
    if request.fields.get("panel") == panel { request.fields.get(field) } else { "" }
}

fn select_panel(request: &PageRequest) -> Markup {
    let value = |field: &str| value(request, "select", field);
    let about = html! { "Which skills fit a request, by the triggers their authors wrote." };
    let inputs = html! {
        label for="s-text" { "Request" }
        input id="s-text" name="text" value=(value("text")) placeholder="profile this spreadsheet";
        label for="s-files" { "Files, separated by commas" }
        input id="s-files" name="files" value=(value("files")) placeholder="data/sales.csv";
        label for="s-intents" { "Intents, separated by commas" }
        input id="s-intents" name="intents" value=(value("intents"));
    };
    panel(request, "select", "Select", &about, &inputs, selection)
}

fn search_panel(request: &PageRequest) -> Markup {
    let about = html! { "Which skills say something about it, best first." };
    let inputs = html! {
        label for="f-text" { "Text" }
        input id="f-text" name="text" value=(value(request, "search", "text")) placeholder="fill in a tax form" required;
    };
    panel(request, "search", "Search", &about, &inputs, hits)
}

fn query_panel(request: &PageRequest, example: &str) -> Markup {
    let about = html! {
        "One exact answer: " code { "skill:path?key=value" } ". An empty path is the whole skill."
    };
    let inputs = html! {
        label for="q-text" { "Query" }
        input id="q-text" name="text" value=(value(request, "query", "text"))
            placeholder={ (example) ":meta.description" } spellcheck="false" required;
    };
    panel(request, "query", "Query", &about, &inputs, query_answer)
}

fn ask_panel(request: &PageRequest, example: &str) -> Markup {
    const QUESTIONS: [(&str, &str); 4] =
        [("can", "Can I …?"), ("how", "How do I …?"), ("when", "What if …?"), ("syntax", "What is the syntax of …?")];
    let value = |field: &str| value(request, "ask", field);
    let about = html! { "A common question, put together from queries." };
    let inputs = html! {
        label for="a-skill" { "Skill" }
        input id="a-skill" name="skill" value=(value("skill")) placeholder=(example) spellcheck="false" required;
        label for="a-question" { "Question" }
        select id="a-question" name="question" {
            @for (word, text) in QUESTIONS {
                option value=(word) selected[request.fields.get("question") == word] { (text) }
            }
        }
        label for="a-about" { "About" }
        input id="a-about" name="text" value=(value("text")) placeholder="what you want to do" required;
    };
    panel(request, "ask", "Ask", &about, &inputs, ask_answer)
}

/// The parts of a list that is separated by commas.
fn comma_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).take(100).map(str::to_owned).collect()
}

fn skill_link(request: &PageRequest, index: usize) -> Markup {
    let catalog = &request.view.catalog;
    let name = truncate(&catalog.entries[index].qualified_name, 80);
    html! { a href=(layout::address(catalog, index)) { bdi { (name) } } }
}

fn selection(request: &PageRequest) -> Markup {
    let selection = request.view.catalog.select(&Request {
        text: request.fields.get("text").to_owned(),
        files: comma_list(request.fields.get("files")),
        intents: comma_list(request.fields.get("intents")),
        ..Request::default()
    });
    let list = |all: &[Selected]| {
        html! {
            ol {
                @for selected in all.iter().take(HITS_MAX) {
                    @let points = selected.score.map_or_else(|| "named".to_owned(), |score| format!("{score} points"));
                    @let matches = selected.matches.iter().take(12).map(match_text).collect::<Vec<_>>();
                    li {
                        (skill_link(request, selected.index)) " " b { (points) }
                        p class="match" { (matches.join(", ")) }
                    }
                }
            }
        }
    };
    html! {
        @if selection.selected.is_empty() {
            p { "No skill reaches " (THRESHOLD) " points." }
        } @else {
            h3 { "Selected" }
            (list(&selection.selected))
        }
        @if !selection.below.is_empty() {
            h3 { "Below the threshold of " (THRESHOLD) " points" }
            (list(&selection.below))
        }
    }
}

fn match_text(found: &Match) -> String {
    let kind = found.kind.name().replace('_', " ");
    match found.points {
        0 => format!("{kind} “{}”", found.trigger),
        points => format!("{kind} “{}” +{points}", found.trigger),
    }
}

fn hits(request: &PageRequest) -> Markup {
    let hits = request.view.catalog.search(request.fields.get("text"), HITS_MAX);
    let reason = |why: &search::Reason| format!("“{}” in {} +{:.1}", why.term, why.field.name(), why.points);
    html! {
        @if hits.is_empty() {
            p { "No skill says anything about it." }
        } @else {
            ol {
                @for hit in &hits {
                    li {
                        (skill_link(request, hit.entry)) " " b { (format!("{:.1}", hit.score)) }
                        p class="match" { (hit.why.iter().take(6).map(reason).collect::<Vec<_>>().join(", ")) }
                    }
                }
            }
        }
    }
}

fn query_answer(request: &PageRequest) -> Markup {
    let answers = request.dashboard.server.answers();
    html! {
        @match answers.query(&request.view.catalog, request.fields.get("text")) {
            Ok(reply) => {
                p {
                    b { bdi { (reply.skill) } } " " code { (reply.path) } " " span class="chip" { (reply.origin.name()) }
                }
                (code_block(&truncate(&pretty(&reply.value), ANSWER_CHARS_MAX)))
                @if !reply.lines.is_empty() {
                    @let lines = reply.lines.iter().take(20).map(|line| format!("{} from line {}", line.at, line.line));
                    p class="match" { (lines.collect::<Vec<_>>().join(", ")) }
                }
                @for note in &reply.notes { p class="why" { (note) } }
            }
            Err(miss) => {
                p { (with_code(&miss.message())) " " code { (miss.code()) } }
                @if let Miss::Path { near, .. } = &miss {
                    @let near = near.iter().take(12).map(String::as_str).collect::<Vec<_>>();
                    p class="match" { "There are: " (near.join(", ")) }
                }
            }
        }
    }
}

fn pretty(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned)
}

fn ask_answer(request: &PageRequest) -> Markup {
    let name = request.fields.get("skill");
    let is_available = |entry: &&rep_library::CatalogEntry| matches!(entry.status, Status::Active | Status::Hidden);
    let Some(entry) = request.view.catalog.get(name).filter(is_available) else {
        return html! { p { "There is no skill “" (name) "”." } };
    };
    let question = match request.fields.get("question") {
        "how" => Question::How,
        "when" => Question::When,
        "syntax" => Question::Syntax,
        _ => Question::Can,
    };
    let answer = match ask::ask(request.dashboard.server.answers(), entry, question, request.fields.get("text")) {
        Ok(answer) => answer,
        Err(miss) => return html! { p { (with_code(&miss.message())) } },
    };
    let verdict = match answer.verdict {
        Verdict::No => "No.",
        Verdict::Guided => "It is not forbidden, but mind:",
        Verdict::Found => "It says:",
        Verdict::Silent => "The skill does not say.",
    };
    html! {
        p { b { (verdict) } " " span class="chip" { (answer.origin.name()) } }
        ol class="plain" {
            @for ground in &answer.grounds {
                li {
                    p class="place" {
                        code { (ground.path) } @if let Some(line) = ground.line { ", line " (line) }
                    }
                    (code_block(&truncate(&pretty(&ground.value), 4000)))
                }
            }
        }
        p class="match" { "Asked: " (answer.queries.join("  ")) }
    }
}
