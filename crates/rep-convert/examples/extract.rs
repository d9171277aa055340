//! Prints the structure extracted from SKILL.md files or skill folders, one JSON document a line: `extract PATH…`.
//!
//! `--facts` prints an array of the document and of its facts with their rules, `--doubtful` adds what is doubtful, and
//! `--without RULE` switches a rule off. The benchmark of extraction reads this.
#![expect(clippy::disallowed_methods, reason = "an example reads the files it is given")]
#![expect(clippy::print_stdout, reason = "an example prints what it shows")]

use std::path::{Path, PathBuf};

use rep_convert::extract::{ExtractionOptions, extract_document_with};
use rep_model::{Skill, SkillDocument, SkillTree, ValuePathStep};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut extraction = ExtractionOptions::default();
    let mut with_facts = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--facts" => with_facts = true,
            "--doubtful" => extraction.include_doubtful = true,
            "--without" => extraction.disabled_rules.extend(arguments.next()),
            path => print(&PathBuf::from(path), &extraction, with_facts)?,
        }
    }
    Ok(())
}

fn print(path: &Path, extraction: &ExtractionOptions, with_facts: bool) -> std::io::Result<()> {
    {
        let path = path.to_path_buf();
        let file = if path.is_dir() { path.join("SKILL.md") } else { path };
        let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let text = std::fs::read_to_string(&file)?;
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("skill").to_owned();
        let mut names = Vec::new();
        list(&folder, "", &mut names)?;
        let mut files: Vec<(&str, &str)> =
            names.iter().filter(|name| *name != "SKILL.md").map(|name| (name.as_str(), "")).collect();
        files.push(("SKILL.md", &text));
        let (skill, _) = Skill::parse(SkillTree::from_texts(&name, &files));
        let document = extract_document_with(&skill, extraction);
        let shown =
            if with_facts { json!([document.raw_value(), facts(&document)]) } else { document.raw_value().clone() };
        println!("{shown}");
    }
    Ok(())
}

fn facts(document: &SkillDocument) -> Value {
    let step = |step: &ValuePathStep| match step {
        ValuePathStep::Key(key) => json!(key),
        ValuePathStep::Item(number) => json!(number),
    };
    let path = |path: &[ValuePathStep]| path.iter().map(step).collect::<Value>();
    let facts = document.facts.iter();
    facts.map(|fact| json!({ "path": path(&fact.path), "line": fact.line, "rule": fact.rule })).collect()
}

/// The names of a skill's files, three folders deep at most.
fn list(folder: &Path, lead: &str, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{lead}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() && lead.matches('/').count() < 3 {
            list(&entry.path(), &format!("{name}/"), names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}
