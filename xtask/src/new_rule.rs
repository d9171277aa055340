//! Writes the two files of a rule and its line in the list, and checks that the scaffold compiles.

use std::fs;
use std::path::Path;

use crate::run_command;

pub(crate) fn write_rule(root: &Path, name: &str) -> Result<(), String> {
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
    if !is_name || ["check-", "no-", "valid-"].iter().any(|prefix| name.starts_with(prefix)) {
        return Err(format!(
            "`{name}` is not a rule name: name the defect in lower-case words with hyphens: `description-missing`"
        ));
    }
    let module = name.replace('-', "_");
    let rules = root.join("crates/rep-check/src/rules");
    let code = rules.join(format!("{module}.rs"));
    if code.exists() {
        return Err(format!("`{name}` already exists"));
    }
    let failed = |error: std::io::Error| format!("could not write the rule: {error}");
    fs::write(&code, RULE_TEMPLATE.replace("NAME", name).replace("MODULE", &module)).map_err(failed)?;
    fs::write(rules.join(format!("{module}.md")), PAGE_TEMPLATE.replace("NAME", name)).map_err(failed)?;
    let list = root.join("crates/rep-check/src/rules.rs");
    let text = fs::read_to_string(&list).map_err(failed)?;
    fs::write(&list, insert_into_list(&text, &module)?).map_err(failed)?;
    println!(
        "wrote rules/{module}.rs and rules/{module}.md; write the check, page and origin, then run `cargo xtask bless`"
    );
    Ok(())
}

/// Adds the rule's two lines to the list, in order.
fn insert_into_list(text: &str, module: &str) -> Result<String, String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut add = |prefix: &str, suffix: &str| {
        let is_entry = |line: &String| line.starts_with(prefix) && line.ends_with(suffix);
        let first = lines.iter().position(is_entry).ok_or("the list of rules does not exist")?;
        let count = lines[first..].iter().take_while(|line| is_entry(line)).count();
        // Rules are sorted by name, which has hyphens instead of the module's underscores.
        let key = |line: &str| line.replace('_', "-");
        let line = format!("{prefix}{module}{suffix}");
        let at = first + lines[first..first + count].iter().take_while(|other| key(other) < key(&line)).count();
        lines.insert(at, line);
        Ok::<(), String>(())
    };
    add("mod ", ";")?;
    add("    &", "::RULE,")?;
    Ok(lines.join("\n") + "\n")
}

/// Writes a rule to a scratch copy of the repository and compiles it, so that the scaffold stays valid.
pub(crate) fn check_scaffold_compiles(root: &Path) -> Result<(), String> {
    let copy = root.join("target/new-rule");
    let failed = |error: std::io::Error| format!("could not create a scratch copy: {error}");
    if copy.exists() {
        fs::remove_dir_all(&copy).map_err(failed)?;
    }
    for folder in ["crates", "xtask", ".cargo", "examples"] {
        copy_folder(&root.join(folder), &copy.join(folder)).map_err(failed)?;
    }
    for file in ["Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"] {
        fs::copy(root.join(file), copy.join(file)).map_err(failed)?;
    }
    write_rule(&copy, "scaffold-untouched")?;
    run_command(
        crate::cargo_command()
            .args(["test", "--quiet", "-p", "rep-check", "--test", "pages"])
            .current_dir(&copy)
            .env("CARGO_TARGET_DIR", root.join("target")),
    )?;
    fs::remove_dir_all(&copy).map_err(failed)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

const RULE_TEMPLATE: &str = r#"use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "NAME",
    summary: "states the defect in one line",
    since: "0.1.0",
    levels: RuleLevels { info: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::own_project("name the specification this comes from")],
    requirements: &[],
    page: include_str!("MODULE.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    if let Some(entry) = front.find_field("NAME") {
        findings.add(manifest.file, entry.key.span, "states the problem").help("states the fix");
    }
}
"#;

const PAGE_TEMPLATE: &str = r"# NAME

## What it finds
What is wrong, in a sentence or two.

## Why it matters
What happens to users of the skill.

## Invalid
````md file=pdf/SKILL.md
---
name: pdf
description: Fills forms. Use for PDF forms.
NAME: yes
---
````
```report
info[NAME]: states the problem
 --> pdf/SKILL.md:4:1
help: states the fix
```

## Valid
````md file=pdf/SKILL.md
---
name: pdf
description: Fills forms. Use for PDF forms.
---
````
";
