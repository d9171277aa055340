use insta::assert_snapshot;
use rep_test_support::Scratch;

use super::{json, run, transcript};

#[test]
fn a_rule_has_a_page_with_levels_and_origins() {
    let scratch = Scratch::new();
    let found = run(&scratch, &["explain", "name-differs-from-folder"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 0
    --- stdout ---
    # name-differs-from-folder

    the `name` field and the skill's folder disagree.

    ## What it finds
    A skill whose `name` is not the name of the folder that holds it. Both are compared in Unicode's NFKC form.

    ## Why it matters
    Some hosts look a skill up by its folder, others by its name. Where the two differ, a call finds nothing, or finds
    another skill; strict uploads refuse it outright.

    ## Invalid
    ````md file=pdf-tools/SKILL.md
    ---
    name: pdf
    description: Fills forms. Use for PDF forms.
    ---
    ````
    ```report
    error[name-differs-from-folder]: name is `pdf` but the folder is `pdf-tools`
     --> pdf-tools/SKILL.md:2:7
    help: rename one of the two so that they agree
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
    - warning where no profile was named

    ## Where it comes from
    - agentskills.io specification: name field
    - x-personal-mcp contract: validate_skill_frontmatter
    ");
}

#[test]
fn the_catalogue_lists_every_rule_once() {
    let scratch = Scratch::new();
    let found = json(&run(&scratch, &["explain", "--json"]));
    let rules = found["rules"].as_array().unwrap();
    let names: Vec<&str> = rules.iter().map(|rule| rule["rule"].as_str().unwrap()).collect();
    assert!(names.len() > 140 && names.is_sorted(), "{}", names.len());
    assert_eq!(run(&scratch, &["explain"]).stdout.lines().count(), names.len());
    assert!(rules.iter().all(|rule| !rule["cites"].as_array().unwrap().is_empty()));
}

#[test]
fn a_miss_suggests_the_nearest_rule() {
    let scratch = Scratch::new();
    let found = run(&scratch, &["explain", "name-too-lang"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 2
    --- stderr ---
    error: there is no rule `name-too-lang`
    help: did you mean `name-too-long`?
    ");
}
