//! A report as a page for people: the Markdown beside what became of it. One file, no script, nothing fetched.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rep_model::markup;
use serde_json::Value;

use super::report::{Item, Notice, Report};
use super::write;

const STYLE: &str = include_str!("page.css");

/// Writes the page. Whatever a skill says, it stays text.
pub fn page(report: &Report) -> String {
    let name = report.finished.name();
    let mut out = String::new();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"{policy}\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" \
         content=\"no-referrer\">\n<title>{} as UASP</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(name)
    );
    head(report, name, &mut out);
    out.push_str("<div class=\"sides\">\n");
    source(report, &mut out);
    result(report, &mut out);
    out.push_str("</div>\n</body>\n</html>\n");
    out
}

fn head(report: &Report, name: &str, out: &mut String) {
    let word = if report.is_valid() { "valid" } else { "not valid" };
    let how = match report.engine.as_str() {
        "rules" => "read by rule, without a model",
        _ => "read by a language model",
    };
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<p>{} values from <code>{}</code>, {how}; {} to review. The result is {word}.</p>\n",
        escape(name),
        report.items.len(),
        escape(&report.file),
        report.doubts()
    );
    out.push_str("<details><summary>Checklist</summary>\n<table>\n");
    for point in &report.checklist {
        let (mark, title, note) = (point.state.mark(), point.title, escape(&point.note));
        let _ = writeln!(out, "<tr><td><code>{mark}</code></td><td>{title}</td><td class=\"faint\">{note}</td></tr>");
    }
    out.push_str("</table></details>\n");
    notices("Errors", &report.errors, out);
    notices("Warnings", &report.warnings, out);
    out.push_str("</header>\n");
}

fn notices(title: &str, notices: &[Notice], out: &mut String) {
    if notices.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{title}</h2>\n<ul>");
    for notice in notices {
        let _ =
            writeln!(out, "<li>{} <span class=\"faint\">{}</span></li>", escape(&notice.line()), escape(&notice.help));
    }
    out.push_str("</ul>\n");
}

/// The Markdown, line by line; a line something was read from leads there.
fn source(report: &Report, out: &mut String) {
    let mut read: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, item) in report.items.iter().enumerate() {
        item.line.into_iter().for_each(|line| {
            read.entry(line).or_insert(number);
        });
    }
    let _ = writeln!(out, "<section class=\"source\">\n<h2>{}</h2>\n<ol>", escape(&report.file));
    for (number, text) in (1..).zip(report.source.lines()) {
        let text = escape(text);
        let _ = match read.get(&number) {
            Some(item) => writeln!(
                out,
                "<li id=\"L{number}\" class=\"read\"><a href=\"#I{item}\">{number}</a><span>{text}</span></li>"
            ),
            None => writeln!(out, "<li id=\"L{number}\"><span>{number}</span><span>{text}</span></li>"),
        };
    }
    out.push_str("</ol>\n</section>\n");
}

fn result(report: &Report, out: &mut String) {
    let version = report.finished.version().unwrap_or("none");
    let _ = writeln!(out, "<section>\n<h2>Result, version <code>{}</code></h2>", escape(version));
    let mut section = "";
    for (number, item) in report.items.iter().enumerate() {
        if item.section() != section {
            section = item.section();
            let _ = writeln!(out, "<h2>{}</h2>", escape(section));
        }
        one(number, item, out);
    }
    out.push_str("</section>\n");
}

fn one(number: usize, item: &Item, out: &mut String) {
    let class = if item.doubt.is_some() { "item doubt" } else { "item" };
    let line = item.line.map(|line| format!(" <a href=\"#L{line}\">line {line}</a>")).unwrap_or_default();
    let value = match &item.value {
        Value::String(text) => text.clone(),
        other => write(other),
    };
    let _ = write!(
        out,
        "<div class=\"{class}\" id=\"I{number}\">\n<span class=\"faint\"><code>{}</code>{line}</span>\n<pre>{}</pre>\n",
        escape(&item.path),
        escape(value.trim_end())
    );
    if let Some(doubt) = &item.doubt {
        let _ = writeln!(out, "<p class=\"why\">needs_review: {}</p>", escape(doubt));
    }
    out.push_str("</div>\n");
}

/// Text that stays text in a page.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|letter| markup::put(letter, &mut out));
    out
}
