//! Everything about one skill.

use rep_library::dossier::{Dossier, FileEntry};
use rep_library::{CatalogEntry, DependencyState, Status, disclose};
use serde_json::Value;

use super::chart::{self, Bar};
use super::fields::encoded;
use super::html::{Html, counted, cut, grouped, html, put, worded};
use super::layout::{self, Here};
use super::{Asked, Shown, library, markdown};
use crate::resources;
use crate::runs::Offer;
use crate::shelf::one_line;

/// How much of a file, and how many files, findings and tools are shown.
const FILE_BYTES_MAX: usize = 256 << 10;
const FILES_MAX: usize = 300;
const FINDINGS_MAX: usize = 100;
const TOOLS_MAX: usize = 100;
/// How much of what a tool does stands beside its name.
const SUMMARY_CHARS: usize = 140;

pub(super) fn show(asked: &Asked) -> Shown {
    let Some((index, entry)) = layout::entry(asked) else {
        return Shown::Missing(format!("There is no skill “{}”.", asked.fields.get("name")));
    };
    if let Some(path) = asked.fields.some("file") {
        return file(asked, index, entry, &path);
    }
    let mut body = heading(asked, entry);
    if layout::is_withheld(asked, entry) {
        put!(
            body,
            "<section class=\"card\"><h2>Not trusted</h2><p>What it says is not shown and nothing of it runs until you \
             trust it: look at its folder, then run <code>rep trust</code>.</p>{}</section>",
            copies(asked, index)
        );
        return Shown::Page(Here::Library, entry.qualified_name.clone(), body);
    }
    match Dossier::of(entry) {
        Ok(dossier) => put!(body, "{}", whole(asked, index, entry, &dossier)),
        Err(error) => put!(body, "{}", layout::trouble(&error.to_string())),
    }
    Shown::Page(Here::Library, entry.qualified_name.clone(), body)
}

fn heading(asked: &Asked, entry: &CatalogEntry) -> Html {
    let mut body = html!(
        "<nav class=\"trail\" aria-label=\"Breadcrumb\"><a href=\"/\">Library</a></nav><div class=\"title\"><h1><bdi>{}</bdi></h1>\
         <p class=\"marks\">{} <span class=\"chip\">{}</span></p></div>",
        cut(&entry.qualified_name, 120),
        layout::status(entry.status),
        entry.scope.name()
    );
    if !entry.reason.is_empty() {
        put!(body, "<p class=\"alert\">{}", library::reason(asked, entry));
        if let Some(remedy) = asked.web.office.remedy(entry) {
            put!(body, "<br><b>To change that:</b> {}", worded(&remedy));
        }
        put!(body, "</p>");
    }
    if !layout::is_withheld(asked, entry) {
        put!(body, "<p class=\"lead\">{}</p>", entry.description);
    }
    body
}

fn whole(asked: &Asked, index: usize, entry: &CatalogEntry, dossier: &Dossier) -> Html {
    let is_shown = matches!(entry.status, Status::Active | Status::Hidden | Status::Shadowed | Status::Disabled);
    let instructions = match disclose::body(entry) {
        Ok(text) if is_shown => {
            let files = format!("{}&file=", layout::address(&asked.shelf.catalog, index));
            let is_markdown = entry.location.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
            if is_markdown {
                markdown::rendered(&text, &files)
            } else {
                html!("<pre tabindex=\"0\"><code>{}</code></pre>", cut(&text, FILE_BYTES_MAX))
            }
        }
        Ok(_) => html!("<p class=\"muted\">It cannot be loaded, so that its text is not shown.</p>"),
        Err(error) => layout::trouble(&error.to_string()),
    };
    html!(
        "<div class=\"columns\"><div class=\"main\">{}{}\
         <section class=\"card body\" aria-labelledby=\"instructions\"><h2 id=\"instructions\">Instructions</h2>{}</section></div>\
         <div class=\"side\">{}{}{}{}{}{}</div></div>",
        findings(asked, entry),
        tools(asked, entry, dossier),
        instructions,
        costs(dossier),
        permissions(asked, entry, dossier),
        needs(asked, entry),
        provenance(entry, dossier),
        files(asked, index, dossier),
        copies(asked, index)
    )
}

fn findings(asked: &Asked, entry: &CatalogEntry) -> Html {
    let found = match asked.web.office.findings(entry) {
        Ok(found) => found,
        Err(reason) => return html!("<section class=\"card\"><h2>Findings</h2>{}</section>", layout::trouble(&reason)),
    };
    if found.is_empty() {
        return html!("<p class=\"alert good\">Nothing is wrong with it: <code>rep check</code> finds nothing.</p>");
    }
    let mut list = Html::default();
    for finding in found.iter().take(FINDINGS_MAX) {
        put!(
            list,
            "<li class=\"finding {}\"><p><span class=\"pill {}\">{}</span> {}</p><p class=\"place\"><code>{}:{}</code> · {}</p>",
            finding.level,
            finding.level,
            finding.level,
            worded(&finding.message),
            finding.file,
            finding.line,
            finding.rule
        );
        if !finding.excerpt.is_empty() {
            put!(list, "<pre tabindex=\"0\"><code>{} │ {}</code></pre>", finding.line, cut(&finding.excerpt, 300));
        }
        if !finding.help.is_empty() {
            put!(list, "<p class=\"help\"><b>Fix:</b> {}</p>", worded(&finding.help));
        }
        if finding.is_mendable {
            put!(list, "<p class=\"help\"><code>rep check --fix</code> mends this.</p>");
        }
        put!(list, "</li>");
    }
    let rest = found.len().saturating_sub(FINDINGS_MAX);
    if rest > 0 {
        put!(list, "<li>… and {} more</li>", rest);
    }
    html!(
        "<section class=\"card\"><h2>Findings <span class=\"number\">{}</span></h2><ul class=\"plain\">{}</ul></section>",
        found.len(),
        list
    )
}

/// What of a skill may run here.
fn offers(asked: &Asked, entry: &CatalogEntry) -> Vec<Offer> {
    let offers = asked.shelf.offers(asked.web.shared.runs.as_deref());
    let is_own = |offer: &&Offer| entry.status == Status::Active && offer.skill == entry.qualified_name;
    offers.iter().filter(is_own).cloned().collect()
}

fn tools(asked: &Asked, entry: &CatalogEntry, dossier: &Dossier) -> Html {
    let own = offers(asked, entry);
    let tools = &dossier.tools.tools;
    if tools.is_empty() && own.is_empty() {
        return Html::default();
    }
    let mut list = Html::default();
    for tool in tools.iter().take(TOOLS_MAX) {
        let text = |path: &str| tool.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let offer = own.iter().find(|offer| !offer.is_command && offer.tool == text("/name"));
        put!(
            list,
            "<details class=\"tool\">{}<p class=\"place\">{} {}</p>{}{}{}</details>",
            summary(text("/name"), text("/description")),
            text("/implementation/runtime"),
            text("/implementation/entrypoint"),
            schema("Takes", tool.get("input_schema")),
            offer.map(|offer| run_form(asked, offer, &sample(&offer.listed["inputSchema"]))),
            schema("Gives", tool.get("output_schema"))
        );
    }
    for offer in own.iter().filter(|offer| offer.is_command).take(TOOLS_MAX) {
        put!(
            list,
            "<details class=\"tool\">{}<p class=\"place\">a command</p>{}{}</details>",
            summary(&offer.tool, offer.listed.get("description").and_then(Value::as_str).unwrap_or_default()),
            schema("Takes", offer.listed.get("inputSchema")),
            run_form(asked, offer, &sample(&offer.listed["inputSchema"]))
        );
    }
    let stale = if dossier.tools.stale {
        html!("<p class=\"why\">tools.json says something else.</p>")
    } else {
        Html::default()
    };
    html!("<section class=\"card\"><h2>Tools</h2>{}{}</section>", stale, list)
}

/// The name of a tool with what it does, and below it the rest where that is long.
fn summary(name: &str, description: &str) -> Html {
    let short = cut(&one_line(description), SUMMARY_CHARS);
    let rest = short.ends_with('…').then(|| html!("<p>{}</p>", worded(description)));
    html!("<summary><code>{}</code> <span class=\"muted\">{}</span></summary>{}", name, worded(&short), rest)
}

/// A contract, as it is written.
pub(super) fn schema(title: &str, schema: Option<&Value>) -> Option<Html> {
    let schema = schema.filter(|schema| !schema.is_null())?;
    let text = cut(&format!("{schema:#}"), 8000);
    Some(html!("<h3>{}</h3><pre tabindex=\"0\"><code>{}</code></pre>", title, text))
}

/// A form that runs a tool, with arguments to begin with. What needs consent is asked here, too.
pub(super) fn run_form(asked: &Asked, offer: &Offer, input: &str) -> Html {
    html!(
        "<form class=\"run\" method=\"post\" action=\"/run\"><input type=\"hidden\" name=\"key\" value=\"{}\">\
         <input type=\"hidden\" name=\"tool\" value=\"{}\"><label>Arguments, as JSON\
         <textarea name=\"input\" rows=\"3\" spellcheck=\"false\">{}</textarea></label><button class=\"primary\">Run {}</button></form>",
        asked.key,
        offer.name,
        input,
        offer.tool
    )
}

/// Arguments to begin with: what must be there.
fn sample(schema: &Value) -> String {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| {
        let own = &schema["properties"][name];
        let first = own.get("default").or_else(|| own["enum"].get(0));
        first.cloned().unwrap_or_else(|| match own["type"].as_str() {
            Some("integer" | "number") => 0.into(),
            Some("boolean") => false.into(),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Value::Object(serde_json::Map::new()),
            _ => "".into(),
        })
    };
    let object: serde_json::Map<String, Value> = required.map(|name| (name.to_owned(), value(name))).collect();
    if object.is_empty() { "{}".to_owned() } else { format!("{:#}", Value::Object(object)) }
}

fn costs(dossier: &Dossier) -> Html {
    let cost = &dossier.footprint;
    let bar = |label: &str, value: usize, colour, note: &str| Bar {
        label: html!("{}", label),
        parts: vec![(value, colour)],
        note: note.to_owned(),
    };
    let tiers = [
        bar("Catalogue", cost.catalogue, "one", "always in context"),
        bar("Activation", cost.activation.unwrap_or(0), "two", "when it is used"),
        bar("Resources", cost.resources, "three", "when they are read"),
    ];
    let sections: Vec<Bar> = cost.sections.iter().map(|(name, tokens)| bar(name, *tokens, "four", "")).collect();
    let answers = match cost.structure {
        Some(origin) if !sections.is_empty() => html!(
            "<details><summary>One section, by a query ({})</summary>{}</details>",
            origin.name(),
            chart::bars(&sections, "tokens")
        ),
        _ => Html::default(),
    };
    html!(
        "<section class=\"card\"><h2>Cost</h2><p class=\"muted\">Tokens by {}, exactly.</p>{}{}</section>",
        cost.tokenizer,
        chart::bars(&tiers, "tokens"),
        answers
    )
}

fn permissions(asked: &Asked, entry: &CatalogEntry, dossier: &Dossier) -> Html {
    let mut body = Html::default();
    if !dossier.tools.tools.is_empty() {
        match asked.web.office.permissions(entry) {
            Ok(lines) => {
                let mut list = Html::default();
                for line in &lines {
                    if line.starts_with("  ") {
                        put!(list, "<li>{}</li>", worded(line.trim()));
                    } else {
                        let above = std::mem::take(&mut list);
                        put!(body, "<ul class=\"words\">{}</ul><h3><code>{}</code></h3>", above, line.trim());
                    }
                }
                put!(body, "<ul class=\"words\">{}</ul>", list);
            }
            Err(reason) => put!(body, "{}", layout::trouble(&reason)),
        }
    }
    if !dossier.allowed_tools.is_empty() {
        put!(body, "<p>It wants these tools of its host: {}</p>", cut(&dossier.allowed_tools.join(", "), 600));
    }
    if dossier.tools.tools.is_empty() && !offers(asked, entry).is_empty() {
        put!(
            body,
            "<p class=\"muted\">What one of its commands may do is worked out for every run, and asked first where that needs consent.</p>"
        );
    }
    if body.is_empty() {
        put!(body, "<p class=\"muted\">It has no tools, so that nothing of it runs here.</p>");
    }
    html!("<section class=\"card\"><h2>Permissions</h2>{}</section>", body)
}

fn needs(asked: &Asked, entry: &CatalogEntry) -> Html {
    if entry.dependencies.is_empty() {
        return Html::default();
    }
    let mut list = Html::default();
    for needed in &entry.dependencies {
        let word = match &needed.state {
            DependencyState::Met => html!("<span class=\"pill active\">met</span>"),
            other => html!("<span class=\"pill invalid\">{}</span>", other.name()),
        };
        match needed.entry {
            Some(index) => put!(
                list,
                "<li><a href=\"{}\"><bdi>{}</bdi></a> {}</li>",
                layout::address(&asked.shelf.catalog, index),
                needed.id,
                word
            ),
            None => put!(list, "<li><bdi>{}</bdi> {}</li>", needed.id, word),
        }
    }
    html!("<section class=\"card\"><h2>Needs</h2><ul>{}</ul></section>", list)
}

fn provenance(entry: &CatalogEntry, dossier: &Dossier) -> Html {
    let own = &dossier.provenance;
    let dialects: Vec<&str> = dossier.dialects.iter().map(|dialect| dialect.name()).collect();
    let mut rows = Html::default();
    let mut row = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            put!(rows, "<dt>{}</dt><dd>{}</dd>", name, value);
        }
    };
    row("Version", own.version.as_deref());
    row("Author", own.author.as_deref());
    row("License", own.license.as_deref());
    row("Dialects", Some(&dialects.join(", ")));
    row("At", Some(&entry.location.to_string_lossy()));
    row("Digest", own.digest.as_deref());
    let callable = match (dossier.is_model_invocable, entry.is_user_invocable) {
        (true, true) => "models and people",
        (true, false) => "models only",
        (false, true) => "people only",
        (false, false) => "nobody",
    };
    row("Called by", Some(callable));
    html!("<section class=\"card\"><h2>Provenance</h2><dl class=\"facts\">{}</dl></section>", rows)
}

fn files(asked: &Asked, index: usize, dossier: &Dossier) -> Html {
    let address = layout::address(&asked.shelf.catalog, index);
    let mut rows = Html::default();
    for file in dossier.files.iter().take(FILES_MAX) {
        let size = file.size_bytes.map_or_else(String::new, bytes);
        let cost = |file: &FileEntry| match file.tokens {
            Some(tokens) => format!("{} tokens", grouped(tokens)),
            None => file.form.name().to_owned(),
        };
        put!(
            rows,
            "<li><a href=\"{}&amp;file={}\"><bdi>{}</bdi></a><span class=\"muted\">{} · {}{}</span></li>",
            address,
            encoded(&file.path),
            file.path,
            size,
            cost(file),
            if file.is_executable { " · executable" } else { "" }
        );
    }
    let rest = dossier.files.len().saturating_sub(FILES_MAX);
    if rest > 0 {
        put!(rows, "<li>… and {} more</li>", grouped(rest));
    }
    html!(
        "<section class=\"card\"><h2>Files <span class=\"number\">{}</span></h2><ul class=\"files\">{}</ul></section>",
        grouped(dossier.files.len()),
        rows
    )
}

/// A size for people.
fn bytes(size: u64) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KiB", size.div_ceil(1024)),
        _ => format!("{} MiB", size.div_ceil(1_048_576)),
    }
}

/// The other skills of the same name.
fn copies(asked: &Asked, index: usize) -> Html {
    let catalog = &asked.shelf.catalog;
    let name = &catalog.entries[index].qualified_name;
    let first = catalog.entries.partition_point(|entry| entry.qualified_name < *name);
    let all = catalog.entries[first..].iter().take_while(|entry| entry.qualified_name == *name).count();
    if all < 2 {
        return Html::default();
    }
    let mut list = Html::default();
    for other in first..first + all {
        let entry = &catalog.entries[other];
        let place = entry.folder.to_string_lossy();
        if other == index {
            put!(
                list,
                "<li>this one {} <span class=\"place\">{}</span></li>",
                layout::status(entry.status),
                place.as_ref()
            );
        } else {
            put!(
                list,
                "<li><a href=\"{}\">{}</a> {} <span class=\"place\">{}</span></li>",
                layout::address(catalog, other),
                entry.scope.name(),
                layout::status(entry.status),
                place.as_ref()
            );
        }
    }
    html!("<section class=\"card\"><h2>{} of this name</h2><ul>{}</ul></section>", counted(all, "skill"), list)
}

/// One file of a skill, as text.
fn file(asked: &Asked, index: usize, entry: &CatalogEntry, path: &str) -> Shown {
    let missing = || Shown::Missing(format!("The skill shows no file “{path}”."));
    if !matches!(entry.status, Status::Active | Status::Hidden | Status::Shadowed | Status::Disabled) {
        return missing();
    }
    let Ok(Some(bytes)) = resources::bytes(entry, path) else { return missing() };
    let shown = match std::str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') => {
            html!("<pre class=\"file\" tabindex=\"0\"><code>{}</code></pre>", cut(text, FILE_BYTES_MAX))
        }
        _ => html!("<p class=\"muted\">It is no text: {} bytes.</p>", grouped(bytes.len())),
    };
    let body = html!(
        "<nav class=\"trail\" aria-label=\"Breadcrumb\"><a href=\"/\">Library</a> / <a href=\"{}\"><bdi>{}</bdi></a></nav>\
         <div class=\"title\"><h1><bdi>{}</bdi></h1></div>{}",
        layout::address(&asked.shelf.catalog, index),
        entry.qualified_name,
        path,
        shown
    );
    Shown::Page(Here::Library, path.to_owned(), body)
}
