use insta::assert_snapshot;
use rep_test_support::ScratchFolder;

use super::{json, run, transcript};

#[test]
fn a_rule_has_a_page_with_levels_and_origins() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["explain", "name-differs-from-folder"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 0
    --- stdout ---
    # name-differs-from-folder

    `name` differs from the directory name.

    ## What it finds
    A skill whose `name` differs from the name of its directory. Both are compared in Unicode NFKC form.

    ## Why it matters
    Some hosts look up a skill by its directory, others by its name. If the two differ, a call finds nothing, or another
    skill. Strict uploads reject the skill.

    ## Invalid
    ````md file=pdf-tools/SKILL.md
    ---
    name: pdf
    description: Fills forms. Use for PDF forms.
    ---
    ````
    ```report
    error[name-differs-from-folder]: `name` is `pdf` but the directory is `pdf-tools`
     --> pdf-tools/SKILL.md:2:7
    help: rename one of the two so that they match; some hosts do not load the skill otherwise
    ```

    ## Valid
    ````md file=pdf-tools/SKILL.md
    ---
    name: pdf-tools
    description: Fills forms. Use for PDF forms.
    ---
    ````

    ## Where it applies
    - error: agentskills, pmcp, portable, claude-api, mcp
    - warning: universal, aam, claude-code, codex, openai
    - warning if no profile is named

    ## Where it comes from
    - agentskills.io specification: name field
    - x-personal-mcp contract: validate_skill_frontmatter
    - host table: VS Code: name and directory
    ");
}

#[test]
fn the_catalogue_lists_every_rule_once() {
    let scratch = ScratchFolder::new();
    let found = json(&run(&scratch, &["explain", "--json"]));
    let rules = found["rules"].as_array().unwrap();
    let names: Vec<&str> = rules.iter().map(|rule| rule["rule"].as_str().unwrap()).collect();
    assert!(names.len() > 140 && names.is_sorted(), "{}", names.len());
    assert_eq!(run(&scratch, &["explain"]).stdout.lines().count(), names.len());
    assert!(rules.iter().all(|rule| !rule["cites"].as_array().unwrap().is_empty()));
}

#[test]
fn a_miss_suggests_the_nearest_rule() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["explain", "name-too-lang"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 2
    --- stderr ---
    error: unknown rule `name-too-lang`
    help: did you mean `name-too-long`?
    ");
}

#[test]
fn a_rule_of_extraction_has_a_page_too() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["explain", "never.listed"]);
    let page = found.stdout;
    assert!(found.code == 0 && page.starts_with("# never.listed\n") && page.contains("Section `never`"), "{page}");
    assert!(page.contains("Finds nothing in:"), "{page}");
    let value = json(&run(&scratch, &["explain", "never.listed", "--json"]));
    assert_eq!((value["rule"].as_str(), value["kind"].as_str()), (Some("never.listed"), Some("extraction")));
    let near = run(&scratch, &["explain", "never.listd"]);
    assert!(near.code == 2 && near.stderr.contains("did you mean `never.listed`?"), "{near:?}");
}
