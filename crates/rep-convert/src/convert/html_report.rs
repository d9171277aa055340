//! Renders a report as an HTML page: the Markdown beside the result. One file, without scripts or external resources.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rep_model::html_escape;
use serde_json::Value;

use super::report::{ConversionItem, ConversionNotice, ConversionReport};
use super::write_yaml;

const STYLE: &str = include_str!("page.css");

/// Renders the page. All text of the skill is escaped.
pub fn render_html_report(report: &ConversionReport) -> String {
    let name = report.finished_file.name();
    let mut out = String::new();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"{policy}\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" \
         content=\"no-referrer\">\n<title>{} as UASP</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape_html(name)
    );
    write_header(report, name, &mut out);
    out.push_str("<div class=\"sides\">\n");
    write_source(report, &mut out);
    write_result(report, &mut out);
    out.push_str("</div>\n</body>\n</html>\n");
    out
}

fn write_header(report: &ConversionReport, name: &str, out: &mut String) {
    let word = if report.is_valid() { "valid" } else { "not valid" };
    let how = match report.engine.as_str() {
        "rules" => "read by rules, without a model",
        _ => "read by a language model",
    };
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<p>{} values from <code>{}</code>, {how}; {} to review. The result is {word}.</p>\n",
        escape_html(name),
        report.items.len(),
        escape_html(&report.file),
        report.doubt_count()
    );
    if let Some(notice) = report.left_out_notice() {
        let _ = writeln!(out, "<p>{}</p>", escape_html(&notice));
    }
    out.push_str("<details><summary>Checklist</summary>\n<table>\n");
    for point in &report.checklist {
        let (mark, title, note) = (point.state.mark(), point.title, escape_html(&point.note));
        let _ = writeln!(out, "<tr><td><code>{mark}</code></td><td>{title}</td><td class=\"faint\">{note}</td></tr>");
    }
    out.push_str("</table></details>\n");
    write_notices("Errors", &report.errors, out);
    write_notices("Warnings", &report.warnings, out);
    out.push_str("</header>\n");
}

fn write_notices(title: &str, notices: &[ConversionNotice], out: &mut String) {
    if notices.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{title}</h2>\n<ul>");
    for notice in notices {
        let _ = writeln!(
            out,
            "<li>{} <span class=\"faint\">{}</span></li>",
            escape_html(&notice.to_line()),
            escape_html(&notice.help)
        );
    }
    out.push_str("</ul>\n");
}

/// Writes the Markdown line by line. A line that a value was read from links to that value.
fn write_source(report: &ConversionReport, out: &mut String) {
    let mut read: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, item) in report.items.iter().enumerate() {
        item.line.into_iter().for_each(|line| {
            read.entry(line).or_insert(number);
        });
    }
    let _ = writeln!(out, "<section class=\"source\">\n<h2>{}</h2>\n<ol>", escape_html(&report.file));
    for (number, text) in (1..).zip(report.source.lines()) {
        let text = escape_html(text);
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

fn write_result(report: &ConversionReport, out: &mut String) {
    let version = report.finished_file.version().unwrap_or("none");
    let _ = writeln!(out, "<section>\n<h2>Result, version <code>{}</code></h2>", escape_html(version));
    let mut section = "";
    for (number, item) in report.items.iter().enumerate() {
        if item.section() != section {
            section = item.section();
            let _ = writeln!(out, "<h2>{}</h2>", escape_html(section));
        }
        write_item(number, item, out);
    }
    out.push_str("</section>\n");
}

fn write_item(number: usize, item: &ConversionItem, out: &mut String) {
    let class = if item.doubt.is_some() { "item doubt" } else { "item" };
    let line = item.line.map(|line| format!(" <a href=\"#L{line}\">line {line}</a>")).unwrap_or_default();
    let rule = item.rule.map(|rule| format!(" <code>{}</code> {} %", rule.id, rule.confidence)).unwrap_or_default();
    let value = match &item.value {
        Value::String(text) => text.clone(),
        other => write_yaml(other),
    };
    let _ = write!(
        out,
        "<div class=\"{class}\" id=\"I{number}\">\n<span class=\"faint\"><code>{}</code>{line}{rule}</span>\n<pre>{}</pre>\n",
        escape_html(&item.path),
        escape_html(value.trim_end())
    );
    if let Some(doubt) = &item.doubt {
        let _ = writeln!(out, "<p class=\"why\">needs_review: {}</p>", escape_html(doubt));
    }
    out.push_str("</div>\n");
}

/// Escapes text for HTML.
fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|letter| html_escape::push_escaped(letter, &mut out));
    out
}
