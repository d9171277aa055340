//! The page to try selecting, searching, querying and asking, each with the reasons for its results.

use maud::{Markup, html};
use rep_library::answer::QueryError;
use rep_library::questions::{self, CommonQuestion, QuestionVerdict};
use rep_library::selection::{DEFAULT_THRESHOLD, SelectedSkill, SelectionRequest, TriggerMatch};
use rep_library::{CatalogEntry, SkillStatus, search};
use serde_json::Value;

use super::fields::encode_query_value;
use super::html::{render_code_block, render_inline_code, truncate_at_word};
use super::layout::{self, PageLocation};
use super::{PageRequest, PageResponse};

const HITS_MAX: usize = 10;
/// The maximum length of a skill's name in an example.
const EXAMPLE_BYTES_MAX: usize = 32;
/// The maximum length of a shown answer.
const ANSWER_CHARS_MAX: usize = 20_000;

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let example = example_skill(request);
    let example = example.as_deref();
    let body = html! {
        div class="title" {
            h1 { "Try it" }
            p class="lead" { "The same results that agents get, with the reasons." }
        }
        div class="panels" {
            (render_select_panel(request))
            (render_search_panel(request))
            (render_query_panel(request, example))
            (render_ask_panel(request, example))
        }
    };
    PageResponse::Page(PageLocation::Try, "Try it".to_owned(), body)
}

/// Returns the name of an active skill for examples: a structured one if there is one, and a name that is a word.
fn example_skill(request: &PageRequest) -> Option<String> {
    let entries = &request.view.catalog.entries;
    let is_word =
        |name: &str| name.len() <= EXAMPLE_BYTES_MAX && name.starts_with(|first: char| first.is_ascii_alphabetic());
    let words = request.view.active.iter().map(|index| &entries[*index]).filter(|entry| is_word(&entry.qualified_name));
    let is_structured = |entry: &&CatalogEntry| !entry.location.ends_with("SKILL.md");
    let first = words.clone().find(is_structured).or_else(|| words.clone().next());
    first.map(|entry| entry.qualified_name.clone())
}

/// Renders a panel: a form, and the result if this panel was submitted.
fn render_panel(
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

/// Returns the value entered in a field of a panel.
fn entered_value<'a>(request: &'a PageRequest, panel: &str, field: &str) -> &'a str {
    if request.fields.get("panel") == panel { request.fields.get(field) } else { "" }
}

fn render_select_panel(request: &PageRequest) -> Markup {
    let value = |field: &str| entered_value(request, "select", field);
    let about = html! { "Find the skills whose declared triggers match a request." };
    let inputs = html! {
        label for="s-text" { "Request" }
        input id="s-text" name="text" value=(value("text")) placeholder="profile this spreadsheet";
        label for="s-files" { "Files, separated by commas" }
        input id="s-files" name="files" value=(value("files")) placeholder="data/sales.csv";
        label for="s-intents" { "Intents, separated by commas" }
        input id="s-intents" name="intents" value=(value("intents"));
    };
    render_panel(request, "select", "Select", &about, &inputs, render_selection)
}

fn render_search_panel(request: &PageRequest) -> Markup {
    let about = html! { "Search the text of all skills, best match first." };
    let inputs = html! {
        label for="f-text" { "Text" }
        input id="f-text" name="text" value=(entered_value(request, "search", "text")) placeholder="fill in a tax form" required;
    };
    render_panel(request, "search", "Search", &about, &inputs, render_hits)
}

fn render_query_panel(request: &PageRequest, example: Option<&str>) -> Markup {
    let query = format!("{}:meta.description", example.unwrap_or("SKILL"));
    let about = html! {
        "Get a single value: " code { "skill:path?key=value" } ". An empty path returns the whole skill."
    };
    let inputs = html! {
        label for="q-text" { "Query" }
        input id="q-text" name="text" value=(entered_value(request, "query", "text"))
            placeholder=(query) spellcheck="false" required;
        @if example.is_some() {
            p class="match" {
                "For example " a href={ "/try?panel=query&text=" (encode_query_value(&query)) "#t-query" } { code { (query) } }
            }
        }
    };
    render_panel(request, "query", "Query", &about, &inputs, render_query_answer)
}

fn render_ask_panel(request: &PageRequest, example: Option<&str>) -> Markup {
    const QUESTIONS: [(&str, &str); 4] =
        [("can", "Can I …?"), ("how", "How do I …?"), ("when", "What if …?"), ("syntax", "What is the syntax of …?")];
    let value = |field: &str| entered_value(request, "ask", field);
    let about = html! { "Ask a common question, which is answered with several queries." };
    let inputs = html! {
        label for="a-skill" { "Skill" }
        input id="a-skill" name="skill" value=(value("skill")) placeholder=(example.unwrap_or("the name of a skill")) spellcheck="false" required;
        label for="a-question" { "Question" }
        select id="a-question" name="question" {
            @for (word, text) in QUESTIONS {
                option value=(word) selected[request.fields.get("question") == word] { (text) }
            }
        }
        label for="a-about" { "About" }
        input id="a-about" name="text" value=(value("text")) placeholder="what you want to do" required;
    };
    render_panel(request, "ask", "Ask", &about, &inputs, render_ask_answer)
}

/// Splits a comma-separated list.
fn split_commas(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).take(100).map(str::to_owned).collect()
}

fn render_skill_link(request: &PageRequest, index: usize) -> Markup {
    let catalog = &request.view.catalog;
    let name = truncate_at_word(&catalog.entries[index].qualified_name, 80);
    html! { a href=(layout::skill_address(catalog, index)) { bdi { (name) } } }
}

fn render_selection(request: &PageRequest) -> Markup {
    let selection = request.view.catalog.select(&SelectionRequest {
        text: request.fields.get("text").to_owned(),
        files: split_commas(request.fields.get("files")),
        intents: split_commas(request.fields.get("intents")),
        ..SelectionRequest::default()
    });
    let list = |all: &[SelectedSkill]| {
        html! {
            ol {
                @for selected in all.iter().take(HITS_MAX) {
                    @let points = selected.score.map_or_else(|| "named".to_owned(), |score| format!("{score} points"));
                    @let matches = selected.matches.iter().take(12).map(describe_match).collect::<Vec<_>>();
                    li {
                        (render_skill_link(request, selected.index)) " " b { (points) }
                        p class="match" { (matches.join(", ")) }
                    }
                }
            }
        }
    };
    html! {
        @if selection.selected.is_empty() {
            p { "No skill reaches the threshold of " (DEFAULT_THRESHOLD) " points." }
        } @else {
            h3 { "Selected" }
            (list(&selection.selected))
        }
        @if !selection.below.is_empty() {
            h3 { "Below the threshold of " (DEFAULT_THRESHOLD) " points" }
            (list(&selection.below))
        }
    }
}

fn describe_match(found: &TriggerMatch) -> String {
    let kind = found.kind.name().replace('_', " ");
    match found.points {
        0 => format!("{kind} “{}”", found.trigger),
        points => format!("{kind} “{}” +{points}", found.trigger),
    }
}

fn render_hits(request: &PageRequest) -> Markup {
    let hits = request.view.catalog.search(request.fields.get("text"), HITS_MAX);
    let reason = |why: &search::ScoreReason| format!("“{}” in {} +{:.1}", why.term, why.field.name(), why.points);
    html! {
        @if hits.is_empty() {
            p { "No skill fits." }
        } @else {
            ol {
                @for hit in &hits {
                    li {
                        (render_skill_link(request, hit.entry)) " " b { (format!("{:.1}", hit.score)) }
                        p class="match" { (hit.why.iter().take(6).map(reason).collect::<Vec<_>>().join(", ")) }
                    }
                }
            }
        }
    }
}

fn render_query_answer(request: &PageRequest) -> Markup {
    let answers = request.dashboard.server.query_engine();
    html! {
        @match answers.query(&request.view.catalog, request.fields.get("text")) {
            Ok(reply) => {
                p {
                    b { bdi { (reply.skill) } } " " code { (reply.path) } " " span class="chip" { (reply.origin.name()) }
                }
                (render_code_block(&truncate_at_word(&format_value(&reply.value), ANSWER_CHARS_MAX)))
                @if !reply.lines.is_empty() {
                    @let lines = reply.lines.iter().take(20).map(|line| format!("{} from line {}", line.at, line.line));
                    p class="match" { (lines.collect::<Vec<_>>().join(", ")) }
                }
                @for note in &reply.notes { p class="why" { (note) } }
            }
            Err(miss) => {
                p { (render_inline_code(&miss.message())) " " code { (miss.code()) } }
                @if let QueryError::Invalid { violations, .. } = &miss {
                    ul class="words" {
                        @for violation in violations.iter().take(20) { li { (render_inline_code(&violation.to_line())) } }
                    }
                }
                @if let QueryError::UnknownPath { near, .. } = &miss {
                    @let near = near.iter().take(12).map(String::as_str).collect::<Vec<_>>();
                    p class="match" { "Available: " (near.join(", ")) }
                }
            }
        }
    }
}

fn format_value(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned)
}

fn render_ask_answer(request: &PageRequest) -> Markup {
    let name = request.fields.get("skill");
    let is_available = |entry: &&CatalogEntry| matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden);
    let Some(entry) = request.view.catalog.get(name).filter(is_available) else {
        return html! { p { "The skill “" (name) "” does not exist." } };
    };
    let question = match request.fields.get("question") {
        "how" => CommonQuestion::How,
        "when" => CommonQuestion::When,
        "syntax" => CommonQuestion::Syntax,
        _ => CommonQuestion::Can,
    };
    let answer = match questions::answer_question(
        request.dashboard.server.query_engine(),
        entry,
        question,
        request.fields.get("text"),
    ) {
        Ok(answer) => answer,
        Err(miss) => return html! { p { (render_inline_code(&miss.message())) } },
    };
    let verdict = match answer.verdict {
        QuestionVerdict::No => "No.",
        QuestionVerdict::Guided => "It is not forbidden, but note:",
        QuestionVerdict::Found => "The skill says:",
        QuestionVerdict::Silent => "The skill does not answer this.",
    };
    html! {
        p { b { (verdict) } " " span class="chip" { (answer.origin.name()) } }
        ol class="plain" {
            @for ground in &answer.evidence {
                li {
                    p class="place" {
                        code { (ground.path) } @if let Some(line) = ground.line { ", line " (line) }
                    }
                    (render_code_block(&truncate_at_word(&format_value(&ground.value), 4000)))
                }
            }
        }
        p class="match" { "Queries: " (answer.queries.join("  ")) }
    }
}
