//! Panels to try selecting, searching, querying and asking, each with why it answers what it does.

use rep_library::ask::{self, Question, Verdict};
use rep_library::select::{Match, Request, Selected, THRESHOLD};
use rep_library::{Status, search};
use serde_json::Value;

use super::html::{Html, cut, html, put, worded};
use super::layout::{self, Here};
use super::{Asked, Shown};

const HITS_MAX: usize = 10;
/// How much of an answer is shown.
const ANSWER_CHARS_MAX: usize = 20_000;

pub(super) fn show(asked: &Asked) -> Shown {
    let panel = asked.fields.get("panel");
    let result = |name: &str, make: fn(&Asked) -> Html| if panel == name { make(asked) } else { Html::default() };
    let value =
        |name: &str, field: &str| if panel == name { asked.fields.get(field).to_owned() } else { String::new() };
    // Examples that this library can answer.
    let first = asked.shelf.active.first().map(|index| asked.shelf.catalog.entries[*index].name.as_str());
    let example = cut(first.unwrap_or("pdf"), 40);
    let mut body = html!(
        "<div class=\"title\"><h1>Try it</h1><p class=\"lead\">The same answers agents get, with the reasons.</p></div><div class=\"panels\">"
    );
    put!(
        body,
        "<section class=\"card\" aria-labelledby=\"t-select\"><h2 id=\"t-select\">Select</h2><p class=\"muted\">Which skills fit a request, by the triggers their authors wrote.</p>\
         <form action=\"/try#t-select\" method=\"get\"><input type=\"hidden\" name=\"panel\" value=\"select\">\
         <label for=\"s-text\">Request</label><input id=\"s-text\" name=\"text\" value=\"{}\" placeholder=\"profile this spreadsheet\">\
         <label for=\"s-files\">Files, separated by commas</label><input id=\"s-files\" name=\"files\" value=\"{}\" placeholder=\"data/sales.csv\">\
         <label for=\"s-intents\">Intents, separated by commas</label><input id=\"s-intents\" name=\"intents\" value=\"{}\">\
         <button class=\"primary\">Select</button></form>{}</section>",
        value("select", "text"),
        value("select", "files"),
        value("select", "intents"),
        result("select", selected)
    );
    put!(
        body,
        "<section class=\"card\" aria-labelledby=\"t-search\"><h2 id=\"t-search\">Search</h2><p class=\"muted\">Which skills say something about it, best first.</p>\
         <form action=\"/try#t-search\" method=\"get\"><input type=\"hidden\" name=\"panel\" value=\"search\">\
         <label for=\"f-text\">Text</label><input id=\"f-text\" name=\"text\" value=\"{}\" placeholder=\"fill in a tax form\" required>\
         <button class=\"primary\">Search</button></form>{}</section>",
        value("search", "text"),
        result("search", found)
    );
    put!(
        body,
        "<section class=\"card\" aria-labelledby=\"t-query\"><h2 id=\"t-query\">Query</h2><p class=\"muted\">One exact answer: <code>skill:path?key=value</code>. An empty path is the whole skill.</p>\
         <form action=\"/try#t-query\" method=\"get\"><input type=\"hidden\" name=\"panel\" value=\"query\">\
         <label for=\"q-text\">Query</label><input id=\"q-text\" name=\"text\" value=\"{}\" placeholder=\"{}:meta.description\" spellcheck=\"false\" required>\
         <button class=\"primary\">Query</button></form>{}</section>",
        value("query", "text"),
        example,
        result("query", answered)
    );
    put!(body, "{}</div>", ask_panel(asked, &example, &value, &result("ask", told)));
    Shown::Page(Here::Try, "Try it".to_owned(), body)
}

fn ask_panel(asked: &Asked, example: &str, value: &dyn Fn(&str, &str) -> String, result: &Html) -> Html {
    let mut questions = Html::default();
    for (word, text) in
        [("can", "Can I …?"), ("how", "How do I …?"), ("when", "What if …?"), ("syntax", "What is the syntax of …?")]
    {
        let mark = if asked.fields.get("question") == word { html!(" selected") } else { Html::default() };
        put!(questions, "<option value=\"{}\"{}>{}</option>", word, mark, text);
    }
    html!(
        "<section class=\"card\" aria-labelledby=\"t-ask\"><h2 id=\"t-ask\">Ask</h2><p class=\"muted\">A common question, put together from queries.</p>\
         <form action=\"/try#t-ask\" method=\"get\"><input type=\"hidden\" name=\"panel\" value=\"ask\">\
         <label for=\"a-skill\">Skill</label><input id=\"a-skill\" name=\"skill\" value=\"{}\" placeholder=\"{}\" spellcheck=\"false\" required>\
         <label for=\"a-question\">Question</label><select id=\"a-question\" name=\"question\">{}</select>\
         <label for=\"a-about\">About</label><input id=\"a-about\" name=\"text\" value=\"{}\" placeholder=\"what you want to do\" required>\
         <button class=\"primary\">Ask</button></form>{}</section>",
        value("ask", "skill"),
        example,
        questions,
        value("ask", "text"),
        result
    )
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).take(100).map(str::to_owned).collect()
}

fn link(asked: &Asked, index: usize) -> Html {
    let entry = &asked.shelf.catalog.entries[index];
    html!(
        "<a href=\"{}\"><bdi>{}</bdi></a>",
        layout::address(&asked.shelf.catalog, index),
        cut(&entry.qualified_name, 80)
    )
}

fn selected(asked: &Asked) -> Html {
    let request = Request {
        text: asked.fields.get("text").to_owned(),
        files: list(asked.fields.get("files")),
        intents: list(asked.fields.get("intents")),
        ..Request::default()
    };
    let selection = asked.shelf.catalog.select(&request);
    let rows = |all: &[Selected]| {
        let mut rows = Html::default();
        for one in all.iter().take(HITS_MAX) {
            let points = one.score.map_or_else(|| "named".to_owned(), |score| format!("{score} points"));
            let why: Vec<String> = one.matches.iter().take(12).map(because).collect();
            put!(
                rows,
                "<li>{} <b>{}</b><p class=\"match\">{}</p></li>",
                link(asked, one.index),
                points,
                why.join(", ")
            );
        }
        rows
    };
    let mut body = html!("<div class=\"result\" role=\"status\">");
    if selection.selected.is_empty() {
        put!(body, "<p>No skill reaches {} points.</p>", THRESHOLD);
    } else {
        put!(body, "<h3>Selected</h3><ol>{}</ol>", rows(&selection.selected));
    }
    if !selection.below.is_empty() {
        put!(body, "<h3>Below the threshold of {} points</h3><ol>{}</ol>", THRESHOLD, rows(&selection.below));
    }
    put!(body, "</div>");
    body
}

fn because(found: &Match) -> String {
    let kind = found.kind.name().replace('_', " ");
    match found.points {
        0 => format!("{kind} “{}”", found.trigger),
        points => format!("{kind} “{}” +{points}", found.trigger),
    }
}

fn found(asked: &Asked) -> Html {
    let hits = asked.shelf.catalog.search(asked.fields.get("text"), HITS_MAX);
    let mut rows = Html::default();
    for hit in &hits {
        let why = |why: &search::Reason| format!("“{}” in {} +{:.1}", why.term, why.field.name(), why.points);
        let words: Vec<String> = hit.why.iter().take(6).map(why).collect();
        let score = format!("{:.1}", hit.score);
        put!(rows, "<li>{} <b>{}</b><p class=\"match\">{}</p></li>", link(asked, hit.entry), score, words.join(", "));
    }
    if hits.is_empty() {
        return html!("<div class=\"result\" role=\"status\"><p>No skill says anything about it.</p></div>");
    }
    html!("<div class=\"result\" role=\"status\"><ol>{}</ol></div>", rows)
}

fn answered(asked: &Asked) -> Html {
    let mut body = html!("<div class=\"result\" role=\"status\">");
    match asked.web.shared.answers.query(&asked.shelf.catalog, asked.fields.get("text")) {
        Ok(reply) => {
            put!(
                body,
                "<p><b><bdi>{}</bdi></b> <code>{}</code> <span class=\"chip\">{}</span></p><pre tabindex=\"0\"><code>{}</code></pre>",
                reply.skill,
                reply.path,
                reply.origin.name(),
                cut(&pretty(&reply.value), ANSWER_CHARS_MAX)
            );
            let lines: Vec<String> =
                reply.lines.iter().take(20).map(|line| format!("{} from line {}", line.at, line.line)).collect();
            if !lines.is_empty() {
                put!(body, "<p class=\"match\">{}</p>", lines.join(", "));
            }
            reply.notes.iter().for_each(|note| put!(body, "<p class=\"why\">{}</p>", note));
        }
        Err(miss) => {
            put!(body, "<p>{} <code>{}</code></p>", worded(&miss.message()), miss.code());
            if let rep_library::answer::Miss::Path { near, .. } = &miss {
                let near: Vec<&str> = near.iter().take(12).map(String::as_str).collect();
                put!(body, "<p class=\"match\">There are: {}</p>", near.join(", "));
            }
        }
    }
    put!(body, "</div>");
    body
}

fn pretty(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned)
}

fn told(asked: &Asked) -> Html {
    let catalog = &asked.shelf.catalog;
    let name = asked.fields.get("skill");
    let is_there = |entry: &&rep_library::CatalogEntry| matches!(entry.status, Status::Active | Status::Hidden);
    let Some(entry) = catalog.get(name).filter(is_there) else {
        return html!("<div class=\"result\" role=\"status\"><p>There is no skill “{}”.</p></div>", name);
    };
    let question = match asked.fields.get("question") {
        "how" => Question::How,
        "when" => Question::When,
        "syntax" => Question::Syntax,
        _ => Question::Can,
    };
    let told = match ask::ask(&asked.web.shared.answers, entry, question, asked.fields.get("text")) {
        Ok(told) => told,
        Err(miss) => return html!("<div class=\"result\" role=\"status\"><p>{}</p></div>", worded(&miss.message())),
    };
    let verdict = match told.verdict {
        Verdict::No => "No.",
        Verdict::Guided => "It is not forbidden, but mind:",
        Verdict::Found => "It says:",
        Verdict::Silent => "The skill does not say.",
    };
    let mut rows = Html::default();
    for ground in &told.grounds {
        let line = ground.line.map(|line| format!(", line {line}")).unwrap_or_default();
        put!(
            rows,
            "<li><p class=\"place\"><code>{}</code>{}</p><pre tabindex=\"0\"><code>{}</code></pre></li>",
            ground.path,
            line,
            cut(&pretty(&ground.value), 4000)
        );
    }
    html!(
        "<div class=\"result\" role=\"status\"><p><b>{}</b> <span class=\"chip\">{}</span></p><ol class=\"plain\">{}</ol><p class=\"match\">Asked: {}</p></div>",
        verdict,
        told.origin.name(),
        rows,
        told.queries.join("  ")
    )
}
