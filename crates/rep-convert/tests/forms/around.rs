//! What lies around the rules: triggers, sources, flags, descriptions and steps.

use serde_json::Value;

use crate::{TOOL, document, of_body, table, texts};

/// The triggers of frontmatter and a body: words, phrases and files, each list by its name.
fn triggers(front: &str, body: &str) -> Vec<String> {
    let value = document(&format!("---\nname: z\n{front}\n---\n\n# Z\n\n{body}\n"), &[]).into_raw_value();
    let lists = ["keywords", "intents", "file_patterns"];
    let all = lists.iter().flat_map(|list| {
        texts(&value["triggers"][list]).into_iter().map(|text| format!("{}: {text}", &list[..1])).collect::<Vec<_>>()
    });
    all.collect()
}

/// UC-15: what a skill is not for does not trigger it.
#[test]
fn what_a_skill_is_not_for_does_not_call_it() {
    let cases: &[(&str, &str, &[&str], &[&str])] = &[
        (
            "description: 'Checks apps. USE FOR: validate my app, run preflight checks. DO NOT USE FOR: deploying clusters (use other). Needs Azure.'",
            "",
            &["i: validate my app", "i: run preflight checks", "k: azure"],
            &["deploying", "clusters"],
        ),
        (
            "description: Coaches people. Use when planning a week. Do not use for therapy, crisis support or \"medical advice\".",
            "",
            &["i: planning a week"],
            &["therapy", "crisis", "medical"],
        ),
        ("description: Reads *.csv tables, not for *.parquet files.", "", &["k: tables", "f: *.csv"], &["parquet"]),
        (
            "description: Draws. Don't use when the user wants photos; use when charts are wanted.",
            "",
            &["i: charts are wanted"],
            &["photos"],
        ),
        (
            "description: Draws. DO NOT TRIGGER when code imports torch. SKIP: spreadsheets.",
            "",
            &[],
            &["torch", "spreadsheets"],
        ),
        ("description: Onboards users who sign up but don't use the product.", "", &["k: product"], &[]),
        ("description: Draws.\nwhen_to_use: Use for charts. Not for photos.", "", &["i: charts"], &["photos"]),
        (
            "description: Draws.",
            "## When to use\n\nUse it for:\n\n- Charts of sales\n\n**Do NOT use for:**\n\n- Retouching photos\n\n## When to activate\n\n- Plans of houses. Not for boats.",
            &["i: Charts of sales", "i: Plans of houses"],
            &["photos", "boats"],
        ),
        (
            "description: Draws.",
            "## Invoke this skill when\n\n- Somebody wants a plan",
            &["i: Somebody wants a plan"],
            &[],
        ),
    ];
    for (front, body, wanted, unwanted) in cases {
        let found = triggers(front, body);
        for one in *wanted {
            assert!(found.iter().any(|found| found == one), "{front}{body}: no {one} in {found:?}");
        }
        for one in *unwanted {
            assert!(!found.iter().any(|found| found.contains(one)), "{front}{body}: {one} in {found:?}");
        }
    }
}

/// UC-15: triggers that are declared, and phrases that are listed.
#[test]
fn declared_triggers_and_listed_phrases() {
    let cases: &[(&str, &[&str])] = &[
        (
            "triggers:\n  - Auto plan\n  - \"my DataRaptor Load is failing, and returns nothing\"",
            &["k: auto plan", "i: my DataRaptor Load is failing, and returns nothing"],
        ),
        (
            "metadata:\n  triggers: code review, SAST, look over a pull request",
            &["k: code review", "k: sast", "i: look over a pull request"],
        ),
        (
            "metadata:\n  triggers:\n    files: ['**/*.swift', kt]\n    keywords: [Resolver]\n    phrases: [resolve my dependencies]\n    exclude: [java]",
            &["k: resolver", "i: resolve my dependencies", "f: **/*.swift", "f: *.kt"],
        ),
        ("keywords: [Ads, second opinion]", &["k: ads", "k: second opinion"]),
        ("metadata:\n  keywords: ads, second opinion", &["k: ads", "k: second opinion"]),
        (
            "description: \"Triggers: 'try harder', 'don't give up', 'you broke it, again'.\"",
            &["i: try harder", "i: don't give up", "i: you broke it, again"],
        ),
        (
            "description: Use when user says 'daily', 'stand up now', or 'scrum update'.",
            &["i: daily", "i: stand up now", "i: scrum update"],
        ),
        (
            "description: \"Trigger keywords: policy API, TMF679 (old, new), swim lane.\"",
            &["i: policy API", "i: TMF679 (old, new)", "i: swim lane"],
        ),
    ];
    for (front, expected) in cases {
        let found: Vec<String> = triggers(front, "").into_iter().filter(|found| found != "k: z").collect();
        let is_said = front.starts_with("description");
        let found: Vec<String> = found.into_iter().filter(|found| !is_said || found.starts_with('i')).collect();
        assert_eq!(found, *expected, "{front}");
    }
}

/// The decisions that have a source, as `when → source`.
fn refs(value: &Value) -> Vec<String> {
    let decisions = value["decisions"].as_array().cloned().unwrap_or_default();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or("none").to_owned();
    decisions.iter().map(|item| format!("{} → {}", text(item, "when"), text(item, "ref"))).collect()
}

/// UC-08: a file that is named in code is as good as a link, and may stand in a column of its own.
#[test]
fn decisions_know_the_file_they_name() {
    let cases: &[(&str, &[&str])] = &[
        ("If the form is encrypted, read `references/keys.md`.", &["the form is encrypted → keys"]),
        ("If it fails, read [the list](references/faults.md) again.", &["it fails → faults"]),
        (
            "- If the page is long, read `references/a.md` first.\n- If it is short, read `./references/b.md`.\n- If it is long again, read `./references/a.md`.",
            &["the page is long → a", "it is short → b", "it is long again → a"],
        ),
        (
            "| Topic | Use when | File |\n|---|---|---|\n| What is Neon | Starting out | `references/start.md` |\n| Branches | Copying data | [b](references/branch.md) |",
            &["Starting out → start", "Copying data → branch"],
        ),
        ("If it fails, run `make again`.", &["it fails → none"]),
    ];
    table(cases, refs);
}

/// UC-13: what is said of a file counts wherever it is said, and documents that are bundled are sources.
#[test]
fn sources_are_what_is_bundled_and_said() {
    let body = "See `references/a.md` and `prompts/ask.md`.\n\n- `references/a.md` — the fields of a form\n- [a](./references/a.md) — more of it\n\nRead `guide.md`, not `README.md`.\n\n| Topic | File |\n|---|---|\n| Keys | `rules/keys.md` |\n";
    let text = format!("---\nname: demo\ndescription: Shows things.\n---\n\n# Demo\n\n{body}\n");
    let files =
        ["references/a.md", "prompts/ask.md", "guide.md", "README.md", "rules/keys.md", "rules/b.md", "AGENTS.md"];
    let document = document(&text, &files);
    let sources = document.raw_value()["sources"].as_array().unwrap();
    let text = |source: &Value, key: &str| source[key].as_str().unwrap_or("-").to_owned();
    let found: Vec<String> =
        sources.iter().map(|source| format!("{}: {}", text(source, "path"), text(source, "use_for"))).collect();
    assert_eq!(
        found,
        [
            "references/a.md: the fields of a form",
            "prompts/ask.md: -",
            "guide.md: -",
            "rules/keys.md: Keys",
            "AGENTS.md: -",
            "rules/b.md: -",
        ]
    );
}

/// UC-09: what a flag takes, and where it is listed.
#[test]
fn flags_take_what_they_say() {
    let body = "```bash\ntool send x\ntool fetch y\n```\n\n| Flag | Meaning |\n|---|---|\n| `--submit` | Submit the form (default: preview) |\n| `--ttl` | Time to live (default: 3600s: one hour) |\n| `--retries` | Retries (default: 3) |\n| `--format` | Output (default: json) |\n\n```\nOptions:\n  --jobs N        Run so many\n  -q TEXT         The words\n```\n\n    Options:\n      --zone a|b  Where to look\n";
    let text = format!("{TOOL}{body}");
    let document = document(&text, &[]);
    let flags = document.raw_value()["global_flags"].as_array().unwrap();
    let found: Vec<String> =
        flags.iter().map(|flag| format!("{} {} {}", flag["name"], flag["type"], flag["default"])).collect();
    assert_eq!(
        found,
        [
            r#""--submit" "bool" null"#,
            r#""--ttl" "string" "3600s""#,
            r#""--retries" "int" 3"#,
            r#""--format" "string" "json""#,
            r#""--jobs" "int" null"#,
            r#""-q" "string" null"#,
            r#""--zone" "enum" null"#,
        ]
    );
    let line_of = |flag: &str| text.lines().position(|line| line.contains(flag)).map(|at| at + 1);
    for (number, name) in
        ["--submit", "--ttl", "--retries", "--format", "--jobs", "-q TEXT", "--zone"].iter().enumerate()
    {
        let path = format!(r#"[Key("global_flags"), Item({number})]"#);
        let fact = document.facts.iter().find(|fact| format!("{:?}", fact.path) == path).unwrap();
        assert_eq!(Some(fact.line), line_of(name), "{name}");
    }
    let value = of_body("```bash\npip install -r requirements.txt\n```\n");
    assert_eq!(value["commands"]["pip.install"]["flags"][0]["type"], "string");
    let value =
        self::document(&format!("{TOOL}```bash\ntool go -q TEXT\ntool go -v x.txt\n```\n"), &[]).into_raw_value();
    let flags = value["commands"]["go"]["flags"].as_array().unwrap();
    let kinds: Vec<&str> = flags.iter().filter_map(|flag| flag["type"].as_str()).collect();
    assert_eq!(kinds, ["string", "bool"]);
}

/// UC-09: a description keeps the code that is a word of it.
#[test]
fn descriptions_have_no_holes() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "Prefer `tool pages create` / `tool pages update` for Markdown content.",
            "pages.create",
            "Prefer `tool pages create` / `tool pages update` for Markdown content",
        ),
        ("Install it (`tool install x`) first.", "install", "Install it (`tool install x`) first"),
        ("- `tool sync` - copies all", "sync", "copies all"),
        ("Use `tool ship` to send it off.", "ship", "send it off"),
    ];
    for (body, name, expected) in cases {
        let value = document(&format!("{TOOL}{body}\n"), &[]).into_raw_value();
        assert_eq!(value["commands"][name]["description"], *expected, "{value}");
    }
}

/// UC-11: steps that are counted are steps in every language, but somebody should look.
#[test]
fn steps_need_no_english() {
    let filler = "Diese Fähigkeit prüft Belege, ordnet Rechnungen und schreibt Berichte. ".repeat(12);
    let body = format!("{filler}\n\n1. Belege sammeln\n2. Beträge prüfen\n3. Bericht schreiben\n");
    let found = document(&format!("---\nname: demo\ndescription: Prüft.\n---\n\n# Demo\n\n{body}"), &[]);
    assert_eq!(found.raw_value()["workflows"]["demo"]["steps"][1]["cmd"], "Beträge prüfen");
    let path = r#"[Key("workflows"), Key("demo")]"#;
    assert!(found.facts.iter().any(|fact| format!("{:?}", fact.path) == path && fact.doubt.is_some()));
    let value =
        of_body("## Workflow\n\n### 1. Discovery\n\nA.\n\n### 2. Delivery\n\nB.\n\n### 3. Retrospective\n\nC.\n");
    assert_eq!(value["workflows"]["workflow"]["steps"][2]["cmd"], "Retrospective");
    assert_eq!(
        of_body("## Kinds\n\n### 1. Discovery\n\nA.\n\n### 2. Delivery\n\nB.\n\n### 3. Retrospective\n\nC.\n")["workflows"],
        Value::Null
    );
}
