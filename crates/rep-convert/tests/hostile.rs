//! Input nobody wrote by hand: extraction ends soon, without a panic, and says the same twice.

use rep_convert::extract::extract_document;
use rep_model::{Skill, SkillTree};

/// The largest body that is ever read.
const BYTES: usize = 8 * 1024 * 1024;

fn run(body: &str) -> String {
    let text = format!("---\nname: x\ndescription: d\n---\n\n{body}");
    let (skill, _) = Skill::parse(SkillTree::from_texts("x", &[("SKILL.md", &text)]));
    extract_document(&skill).raw_value().to_string()
}

/// The same for a body that says it is a page that was made from a structured skill.
fn run_page(body: &str) -> String {
    let text = format!("---\nname: x\ndescription: d\nmetadata: {{uasp-type: cli}}\n---\n\n# x\n\n{body}");
    let (skill, _) = Skill::parse(SkillTree::from_texts("x", &[("SKILL.md", &text)]));
    extract_document(&skill).raw_value().to_string()
}

#[test]
fn pages_of_any_shape_are_read_to_their_end() {
    let patterns = [
        "## Commands\n",
        "## a\n",
        "## Sources\n## a\n",
        "## a\n\n```json\n{}\n```\n",
        "## Commands\n\n### `a`\n",
        "### `a`\n",
        "```\n",
        "- a: `b`, `c\n",
        "  - x\n",
        "| a | `b\\| |\n",
        "1. `a` (optional): b\n",
        "> a\n",
        "\\# a\n\n",
        "`",
        "## Guidelines\n\n### Prefer\n\n- a over b over c when d when e\n",
        "## When to use\n\n- Keywords: `a`, `b`\n- Intents: a; b\n",
        "Sessions are created by `x y`. Throughout, be kind. At every step, look.\n\n1. Do it\n2. Do that\n3. Stop\n\n",
    ];
    for pattern in patterns {
        let body = pattern.repeat(200_000 / pattern.len() + 1);
        run_page(&body);
        run_page(&format!("## Commands\n\n{body}"));
        run(&body);
    }
}

/// Runs a pattern at a size at which work that follows the square of the text would not end.
fn check_end(pattern: &str) {
    run(&pattern.repeat(200_000 / pattern.len() + 1));
}

#[test]
fn text_of_any_shape_is_read_to_its_end() {
    let patterns = [
        "Never do this. ",
        "If a, b, c, ",
        "a,",
        "(",
        "`",
        "``` ",
        "\"",
        "* ",
        "- x\n",
        "1. Do it\n",
        "# a\n",
        "| a ",
        "a | b\n--|--\n",
        "[x](y) ",
        "[",
        "<",
        "```bash\ntool x\n```\n",
        "$(",
        "'",
        "never ",
        "not ",
        "; ",
        "> [!NOTE]\n> x\n\n",
        ":::note\n",
        "!!! note\n",
        "<ul><li>",
        "<p>Never do it. ",
        "<a ",
        "<!-- ",
        "No a, ",
        "instead of a, ",
        "| Do | Don't |\n|---|---|\n| Use a | Use b, use c instead |\n\n",
        "🚀 x\n",
        "- `--x` one of a, b, c\n",
        "é",
        "。",
        "https://a.b ",
        "├ a?\n",
        "- use `a` for b\n",
        "If x: ",
        "A_B=1\n",
        "`A_B` ",
        "> ",
        "- **a** - b\n",
    ];
    for pattern in patterns {
        check_end(pattern);
    }
}

#[test]
fn code_of_any_shape_is_cut_to_its_end() {
    for inside in [
        "\"",
        "'",
        "$(",
        "a | ",
        "<<E\n",
        "<a ",
        "\\\n",
        "a && ",
        "# x\n",
        "tool sub --flag value\n",
        "X=$(",
        "├─ a?\n",
        "1. Do\n",
        "run: |\n",
        "a|",
        "tool {a,",
        "${A:-",
        "-x, --yy <z>  Do it\n",
    ] {
        for language in ["bash", "", "yaml"] {
            check_end(&format!("```{language}\n{}\n```\n", inside.repeat(100_000 / inside.len())));
        }
    }
}

#[test]
fn the_largest_body_is_read() {
    let body = "Never do this thing. If that, do it. Use `git status` when needed.\n\n- Always check `A_B_KEY` in the environment\n\n".repeat(BYTES / 116);
    let found = run(&body);
    assert!(found.len() < 2_000_000);
}

#[test]
fn deep_nesting_is_no_recursion() {
    for (open, inner) in
        [("> ", "x"), ("- ", "x"), ("* a\n ", "x"), ("1. ", "x"), ("**", "x"), ("[", "x"), ("<div>", "x")]
    {
        run(&format!("{}{inner}", open.repeat(3_000)));
    }
    let nested: String = (0..400).map(|depth| format!("{}- never do {depth} things\n", "  ".repeat(depth))).collect();
    run(&nested);
}

#[test]
fn the_same_text_gives_the_same_document() {
    let body = "Never a b. Use `git log` for c.\n\n```bash\ngit a\ngit b --x\n```\n".repeat(50);
    assert_eq!(run(&body), run(&body));
}

#[test]
fn odd_bytes_do_not_panic() {
    let odd = [
        "\u{0}",
        "\u{feff}",
        "\u{202e}",
        "é",
        "日本",
        "👩‍👩‍👧",
        "İ",
        "ß",
        "ﬁ",
        "“",
        "’",
        "\r",
        "\u{2028}",
        "—",
        "→",
        "✅",
        "❌",
        "｜",
        "\u{301}",
    ];
    for one in odd {
        for other in [
            "Never ",
            "If a, ",
            "`",
            "(",
            "1. ",
            "| ",
            "$",
            "**",
            "- ",
            "```sh\n",
            "a: ",
            "--",
            "don’t ",
            "use x instead of ",
        ] {
            run(&format!("{one}{other}{one}b c.{other}{one}{one}{other}d {one}"));
            run(&format!(
                "# {other}{one}\n\n- {one}{other}: {one}\n\n| {other} | {one} |\n|--|--|\n| {one} | {other} |\n\n```\n{other}{one}{other}\n```\n"
            ));
        }
    }
}
