//! The three commands of the reference tool. That they match it byte for byte is shown by the recorded cases and by
//! the comparison script; here is what holds without either.

use rep_test_support::ScratchFolder;

use super::{GOOD, run};

#[test]
fn validate_prints_what_the_reference_tool_prints() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    for path in ["pdf", "pdf/", "./pdf", "pdf/SKILL.md"] {
        let found = run(&scratch, &["validate", path]);
        assert_eq!((found.code, found.stdout.as_str(), found.stderr.as_str()), (0, "Valid skill: pdf\n", ""), "{path}");
    }
    scratch.write_file(
        "pdf/SKILL.md",
        "---\nname: -PDF-\nzeta: 1\nalpha: 2\ndescription: ''\ncompatibility: {a: b}\n---\n",
    );
    let found = run(&scratch, &["validate", "pdf"]);
    let expected = "Validation failed for pdf:\n  - Unexpected fields in frontmatter: alpha, zeta. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.\n  - Skill name '-PDF-' must be lowercase\n  - Skill name cannot start or end with a hyphen\n  - Directory name 'pdf' must match skill name '-PDF-'\n  - Field 'description' must be a non-empty string\n  - Field 'compatibility' must be a string\n";
    assert_eq!((found.code, found.stdout.as_str(), found.stderr.as_str()), (1, "", expected));
}

#[test]
fn properties_are_ascii_json_in_a_fixed_order() {
    let scratch = ScratchFolder::new();
    scratch.write_file("p/SKILL.md", "---\nmetadata:\n  v: 1.10\n  n: {b: [c, \"d'e\"]}\nlicense: MIT\nname:  p \ndescription: \"é😀\"\nallowed-tools:\n  - Read\n---\n");
    let found = run(&scratch, &["read-properties", "p"]);
    let expected = "{\n  \"name\": \"p\",\n  \"description\": \"\\u00e9\\ud83d\\ude00\",\n  \"license\": \"MIT\",\n  \"allowed-tools\": [\n    \"Read\"\n  ],\n  \"metadata\": {\n    \"v\": \"1.10\",\n    \"n\": \"{'b': ['c', \\\"d'e\\\"]}\"\n  }\n}\n";
    assert_eq!((found.code, found.stdout.as_str()), (0, expected));
}

#[test]
fn a_prompt_is_all_or_nothing() {
    let scratch = ScratchFolder::new();
    scratch.write_file(
        "pdf/SKILL.md",
        GOOD.replace("Fills", "Fills \\\"<b>\\\" &")
            .replace("description: ", "description: \"")
            .replace("fill in.", "fill in.\""),
    );
    let found = run(&scratch, &["to-prompt", "pdf"]);
    assert!(found.stdout.contains("\nFills &quot;&lt;b&gt;&quot; &amp; PDF forms."), "{found:?}");
    assert!(found.stdout.contains("/work/pdf/SKILL.md\n</location>"), "{found:?}");
    scratch.write_file("bad/SKILL.md", "---\nname: bad\n---\n");
    let found = run(&scratch, &["to-prompt", "pdf", "bad"]);
    assert_eq!(
        (found.code, found.stdout.as_str(), found.stderr.as_str()),
        (1, "", "Error: Missing required field in frontmatter: description\n")
    );
    assert_eq!(run(&scratch, &["to-prompt"]).code, 2);
}

#[test]
fn a_missing_argument_is_reported_as_the_reference_tool_does() {
    let scratch = ScratchFolder::new();
    for (command, argument) in
        [("validate", "SKILL_PATH"), ("read-properties", "SKILL_PATH"), ("to-prompt", "SKILL_PATHS...")]
    {
        let found = run(&scratch, &[command]);
        let expected = format!(
            "Usage: rep {command} [OPTIONS] {argument}\nTry 'rep {command} --help' for help.\n\nError: Missing argument '{argument}'.\n"
        );
        assert_eq!((found.code, found.stdout.as_str(), found.stderr), (2, "", expected));
    }
}
