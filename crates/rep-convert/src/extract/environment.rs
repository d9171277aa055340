//! Extracts the environment variables that a skill needs: UASP's `environment`, by UASP §7.1 rule 9.

use std::collections::BTreeSet;

use serde_json::json;

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText};
use super::clauses::clean_text;
use super::commands::is_shell_language;
use super::draft::DocumentDraft;
use super::lexicon::{LEXICON, is_verb};
use super::roles::BlockContext;
use super::sentences::split_sentences;
use super::syntax::{ExtractedFlag, merge_flags, remove_empty_fields};
use super::words::WordList;
use super::{flags, rules};

pub(super) fn extract_environment(blocks: &[MarkdownBlock], places: &[BlockContext], draft: &mut DocumentDraft) {
    let mut found = Vec::new();
    for (block, place) in blocks.iter().zip(places) {
        match &block.kind {
            MarkdownBlockKind::Code(language) => collect_code_variables(block, language, &mut found),
            MarkdownBlockKind::Table => collect_table_variables(blocks, block, &mut found),
            MarkdownBlockKind::Paragraph | MarkdownBlockKind::Item(_) if !place.is_wrong() => {
                let is_listed = block.is_item() && is_about_variables(blocks, block, *place);
                collect_prose_variables(&block.prose, is_listed, &mut found);
            }
            _ => {}
        }
    }
    let own = collect_local_names(blocks);
    found.retain(|variable: &ExtractedFlag| !own.contains(variable.name.as_str()));
    for ExtractedFlag { name, line, purpose, default, .. } in merge_flags(found.iter().take(5_000)) {
        let doubt = purpose.is_none().then_some("the text does not state its purpose");
        let purpose = purpose.unwrap_or_else(|| name.to_lowercase().replace('_', " "));
        let value = remove_empty_fields(json!({ "name": name, "purpose": purpose, "default": default }));
        draft.environment.add_with_doubt(&rules::ENVIRONMENT_VARIABLE, line, doubt, value);
    }
}

fn add_variable(
    found: &mut Vec<ExtractedFlag>,
    name: &str,
    line: usize,
    purpose: Option<String>,
    default: Option<&str>,
) {
    if is_variable_name(name) {
        let (name, purpose, default) =
            (name.to_owned(), purpose.filter(|text| text.len() > 2), default.map(str::to_owned));
        found.push(ExtractedFlag { name, purpose, default, line, ..ExtractedFlag::default() });
    }
}

/// Returns whether a name has the form of a variable, and is not a common shell variable or a placeholder of a host.
fn is_variable_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.len() >= 3
        && name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
        && !LEXICON.given_variables.contains(&name.to_lowercase())
}

/// Collects the names that shell blocks assign without exporting: `NAME=demo`, `for FILE in`, but not
/// `PORT=${PORT:-8080}`.
fn collect_local_names(blocks: &[MarkdownBlock]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let shells = blocks.iter().filter(|block| block.language().is_some_and(is_shell_language));
    for line in shells.flat_map(|block| block.prose.text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let pairs = words.windows(2).filter(|pair| matches!(pair[0], "for" | "read" | "-r" | "local" | "readonly"));
        found.extend(pairs.filter_map(|pair| pair[1].split('=').next()));
        let Some((name, value)) = line.trim_start().split_once('=') else { continue };
        let is_alone = !value.contains(' ') || value.starts_with(['$', '"', '\'']);
        let is_taken = value.trim_matches('"').starts_with(&format!("${{{name}"));
        // What a script assigns to a variable of its own, and does not export, is not configuration.
        let is_made = ["$(", "\"$", "`"].iter().any(|start| value.starts_with(start)) || !is_configuration_name(name);
        found.extend(Some(name).filter(|_| is_alone && is_made && !is_taken));
    }
    found
}

fn collect_code_variables(block: &MarkdownBlock, language: &str, found: &mut Vec<ExtractedFlag>) {
    let is_shell = is_shell_language(language) && !matches!(language, "powershell" | "ps1" | "cmd" | "bat");
    let is_settings = matches!(language, "env" | "dotenv" | "ini");
    let readers = ["process.env", "environ", "getenv(", "env::var(", "Getenv(", "ENV[", "import.meta.env.", "secrets."];
    for (number, line) in (block.line + 1..).zip(block.prose.text.lines()) {
        let (line, comment) =
            line.split_once(" #").map_or((line, None), |(line, comment)| (line, Some(clean_text(comment))));
        let bare = line.trim_start().trim_start_matches("$ ");
        let exported = bare.strip_prefix("export ");
        let assigned = exported.or(Some(bare).filter(|_| is_settings || is_shell || language.is_empty()));
        if let Some((name, value)) = assigned.and_then(|rest| rest.split_once('=')) {
            let is_handed = is_shell && value.contains(' ') && value.starts_with(char::is_alphanumeric);
            if exported.is_some() || is_settings || is_handed || name.contains('_') {
                add_variable(found, name, number, comment.clone(), parse_shell_default(value, name));
            }
        }
        let readers = readers.into_iter().chain(is_shell.then_some("$"));
        for at in readers.flat_map(|reader| line.match_indices(reader).map(|(at, _)| at + reader.len())) {
            let rest = line[at..].trim_start_matches(".get").trim_start_matches(['"', '\'', '{', '[', '(', '.']);
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let name = &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())];
            if !is_shell || name.contains('_') || LEXICON.configuration_endings.contains(&name.to_lowercase()) {
                add_variable(found, name, number, comment.clone(), parse_shell_default(line, name));
            }
        }
    }
}

/// Returns the default value of a shell variable: `${PORT:-8080}`.
fn parse_shell_default<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("${{{name}"))?;
    let value = [":-", ":=", "-"].iter().find_map(|mark| rest.strip_prefix(mark))?;
    value.split_once('}').map(|(value, _)| value.trim_matches('"')).filter(|value| !value.is_empty())
}

fn collect_table_variables(blocks: &[MarkdownBlock], block: &MarkdownBlock, found: &mut Vec<ExtractedFlag>) {
    let heading = block.heading.map(|heading| &blocks[heading].prose);
    let titles = heading.into_iter().chain(block.rows.first().and_then(|titles| titles.first()));
    if !names_variables(titles) {
        return;
    }
    let [default, _, purpose] = flags::find_table_columns(block);
    for row in block.rows.iter().skip(1).filter(|row| !row.is_empty()) {
        let cell = |column: Option<usize>| column.and_then(|column| row.get(column));
        let purpose = cell(purpose).map(|cell| clean_text(&cell.text));
        let name = row[0].text.trim_matches(['`', '$', ' ', '*']);
        add_variable(found, name, row[0].line_at(0), purpose, flags::parse_default_cell(cell(default)));
    }
}

/// Whether the heading above a list, or the line before it, says that its items are variables.
fn is_about_variables(blocks: &[MarkdownBlock], block: &MarkdownBlock, place: BlockContext) -> bool {
    names_variables(block.heading.into_iter().chain(place.lead).map(|title| &blocks[title].prose))
}

fn names_variables<'a>(titles: impl Iterator<Item = &'a ProseText>) -> bool {
    let names = ["environment", "env", "variable", "variables"];
    titles.map(|title| WordList::parse(&title.text)).any(|words| words.contains_any(0..words.len(), &names))
}

fn collect_prose_variables(prose: &ProseText, is_listed: bool, found: &mut Vec<ExtractedFlag>) {
    for range in split_sentences(prose) {
        let (text, line) = (&prose.text[range.clone()], prose.line_at(range.start));
        let words = WordList::parse(text);
        let says = words
            .contains_any(0..words.len(), &["environment", "env", "variable", "variables", "set", "export", "unset"]);
        for code in prose.codes_in(range) {
            let bare = code.trim_start_matches("export ");
            let name = bare.trim_start_matches(['$', '{']);
            let name = &name[..name.find([':', '-', '=', '}']).unwrap_or(name.len())];
            let is_first = is_listed && prose.text.starts_with(&format!("`{code}`"));
            let is_named = name.contains('_') && (says || is_first) || is_configuration_name(name);
            if bare.starts_with('$') || is_named || bare.contains('=') && says {
                let behind = text.split_once(&format!("`{code}`")).map_or("", |(_, behind)| behind.trim_start());
                let is_told = prose.text.starts_with('`') && behind.starts_with(['-', '—', '–', ':', '(']);
                let told = is_told.then(|| clean_text(behind.trim_matches(['-', '—', '–', ':', ' ', '(', ')'])));
                let purpose = told.or_else(|| find_purpose(behind));
                let said = behind.split(';').next().and_then(flags::find_default);
                add_variable(found, name, line, purpose, said.or_else(|| parse_shell_default(code, name)));
            }
        }
    }
}

/// Returns what a variable is set for: `to authenticate, and …`. A value, as in `to 1`, does not count.
fn find_purpose(behind: &str) -> Option<String> {
    let rest = behind.strip_prefix("to ")?;
    let end = rest.find([',', ';', '(']).unwrap_or(rest.len());
    let purpose = rest[..end].trim_end_matches(['.', ' ']);
    let first = purpose.split(' ').next()?;
    (is_verb(first) && !purpose.contains('`')).then(|| clean_text(purpose))
}

/// Whether the last part of a name marks it as configuration: `API_KEY`, `SERVICE_URL`.
fn is_configuration_name(name: &str) -> bool {
    let last = name.rsplit_once('_').map(|(_, last)| last.to_lowercase());
    last.is_some_and(|last| LEXICON.configuration_endings.contains(&last))
}
