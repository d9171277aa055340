//! What each section takes from a text and what it leaves: sentences labelled by hand, one table per section.

use rep_convert::extract::extract_document;
use rep_model::{Skill, SkillTree};
use rep_model::{SkillDocument, ValuePathStep};
use serde_json::Value;

fn document(text: &str, files: &[&str]) -> SkillDocument {
    let mut all: Vec<(&str, &str)> = files.iter().map(|file| (*file, "")).collect();
    all.push(("SKILL.md", text));
    extract_document(&Skill::parse(SkillTree::from_texts("demo", &all)).0)
}

/// Extracts a body below frontmatter that says little.
fn of_body(body: &str) -> Value {
    document(&format!("---\nname: demo\ndescription: Shows things.\n---\n\n# Demo\n\n{body}\n"), &[]).into_raw_value()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

/// Runs a table of bodies and what a section holds then, and reports all lines that differ at once.
fn table(cases: &[(&str, &[&str])], section: impl Fn(&Value) -> Vec<String>) {
    let mut wrong = Vec::new();
    for (body, expected) in cases {
        let found = section(&of_body(body));
        if found != *expected {
            wrong.push(format!("{body}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn prohibitions() {
    let cases: &[(&str, &[&str])] = &[
        ("Never commit secrets to the repository.", &["commit secrets to the repository"]),
        ("Do not edit generated files.", &["edit generated files"]),
        ("DO NOT force-push to shared branches!", &["force-push to shared branches"]),
        ("Don't guess the schema; ask for it.", &["guess the schema"]),
        ("Avoid nested ternaries.", &["nested ternaries"]),
        ("You must not call the old endpoint.", &["call the old endpoint"]),
        ("You should never delete a branch you did not make.", &["delete a branch you did not make"]),
        ("Secrets must never be logged.", &["let secrets be logged"]),
        ("The agent must not retry more than twice.", &["retry more than twice"]),
        ("Use the cache, but never trust stale entries.", &["trust stale entries"]),
        ("Avoid long lines unless a table needs them.", &["long lines unless a table needs them"]),
        ("Mocks are strictly forbidden in end-to-end tests.", &["Mocks in end-to-end tests"]),
        ("Refrain from quoting whole files.", &["quoting whole files"]),
        ("Never run migrations because they lock the table.", &["run migrations"]),
        ("If the build is red, do not merge anything.", &["merge anything if the build is red"]),
        ("**Never:**\n\n- push to main\n- skip the tests", &["push to main", "skip the tests"]),
        ("## Don't\n\n- Rename public functions\n- Drop columns", &["Rename public functions", "Drop columns"]),
        ("## Red flags\n\n- Skipping the review\n- A red banner", &["Skipping the review"]),
        ("Never auto-merge without a review.", &["auto-merge without a review"]),
        // Not rules: descriptions, quotations, examples, hypotheticals, code, reassurance.
        ("Users should never see this error.", &[]),
        ("The tool never writes to disk.", &[]),
        ("This command does not need a network.", &[]),
        ("The page says \"never share your key\".", &[]),
        ("Suppose you never close the file.", &[]),
        ("Why should you never do this?", &[]),
        ("```python\n# never call this twice\nrun()\n```", &[]),
        ("For example, never mixing tabs and blanks is a rule some teams have.", &[]),
        ("## Examples\n\n- Never eat soup with a fork.", &[]),
        ("You don't need an account.", &[]),
        ("If you don't have a key yet, create one.", &[]),
        ("Avoid delays by caching what you fetch.", &[]),
        ("## Don't know what is wrong yet\n\n- Check the log", &[]),
        ("Never mind the warnings.", &[]),
        ("Tests that never fail prove nothing.", &[]),
        ("It can be read without a login to avoid delays.", &[]),
        ("Use `--never` for manual runs.", &[]),
    ];
    table(cases, |value| texts(&value["constraints"]["never"]).into_iter().map(str::to_owned).collect());
}

#[test]
fn duties() {
    let cases: &[(&str, &[&str])] = &[
        ("Always run the tests before you push.", &["run the tests before you push"]),
        ("You must validate the input.", &["validate the input"]),
        ("You should always pin versions.", &["pin versions"]),
        ("Ensure that every link resolves.", &["Ensure that every link resolves"]),
        ("Make sure to close the session.", &["close the session"]),
        ("Don't forget to update the changelog.", &["update the changelog"]),
        ("It is critical to back up the database.", &["back up the database"]),
        ("Each branch must have one owner.", &["Each branch must have one owner"]),
        ("**Our motto:** Facts first, always.", &["Our motto: Facts first"]),
        ("Before deleting a file, list its users.", &["list its users before deleting a file"]),
        ("Only read files inside the folder.", &["Only read files inside the folder"]),
        ("Keep every answer under 200 words.", &["Keep every answer under 200 words"]),
        ("## Rules\n\n- Write small functions.\n- Name things well.", &["Write small functions", "Name things well"]),
        (
            "## Best practices\n\n1. **Start small** - Add one feature at a time",
            &["Start small: Add one feature at a time"],
        ),
        ("IMPORTANT: Use the staging key.", &["Use the staging key"]),
        // Not rules.
        ("The parser always returns a tree.", &[]),
        ("It must have been deleted.", &[]),
        ("Users must see a receipt.", &[]),
        ("# Diagrams\n\nCreate diagrams from text.\n\n## More\n", &[]),
        ("This ensures that nothing is lost.", &[]),
        ("## Steps\n\n1. Open the file.\n2. Read it.\n3. Close it.", &[]),
        ("## Rules\n\n- Reference: the old manual", &[]),
        ("## Rules\n\n- Design tokens enable global changes\n- Clear contracts\n- Fields (ids must be unique)", &[]),
        ("See the manual for details.", &[]),
        ("## Options\n\nFill the template.", &[]),
    ];
    table(cases, |value| texts(&value["constraints"]["always"]).into_iter().map(str::to_owned).collect());
}

#[test]
fn preferences() {
    let cases: &[(&str, &[&str])] = &[
        ("Prefer composition over inheritance.", &["composition > inheritance"]),
        ("Prefer composition to inheritance.", &["composition > inheritance"]),
        ("Use `rg` instead of `grep`.", &["`rg` > `grep`"]),
        ("Use tokens rather than passwords for automation.", &["tokens > passwords ? automation"]),
        ("When recursing, prefer loops over recursion.", &["loops > recursion ? recursing"]),
        ("Use spaces, not tabs.", &["spaces > tabs"]),
        ("Always prefer the SDK over raw requests.", &["SDK > raw requests"]),
        ("Prefer to use short names.", &[]),
        ("The team uses tabs instead of spaces.", &[]),
        ("They exist to be called rather than read.", &[]),
        ("Hand over the report.", &[]),
        ("The article prefers brevity over style.", &[]),
    ];
    table(cases, |value| {
        let items = value["constraints"]["prefer"].as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| {
                let when = item["when"].as_str().map(|when| format!(" ? {when}")).unwrap_or_default();
                format!("{} > {}{when}", item["use"].as_str().unwrap(), item["over"].as_str().unwrap())
            })
            .collect()
    });
}

#[test]
fn choices() {
    let cases: &[(&str, &[&str])] = &[
        ("If the port is taken, pick another.", &["the port is taken => pick another"]),
        ("When the page moves, take a new picture.", &["the page moves => take a new picture"]),
        ("For long tables, add a header row.", &["long tables => add a header row"]),
        ("Unless told otherwise, write English.", &["unless told otherwise => write English"]),
        ("Stop if the branch is dirty.", &["the branch is dirty => Stop"]),
        ("Check whether a key exists. If it does, use it.", &[]),
        ("If the user wants charts they should pick a theme.", &["the user wants charts => they should pick a theme"]),
        ("**If the build fails:**\n\n- Read the log\n- Try again", &["the build fails => Read the log; Try again"]),
        (
            "Use `a` for code, `b` for prose, and `c` for tables.",
            &["code => use `a`", "prose => use `b`", "tables => use `c`"],
        ),
        ("Add `draft` to the title for an early version.", &["an early version => Add `draft` to the title"]),
        ("| Situation | Action |\n|---|---|\n| Disk full | Delete logs |", &["Disk full => Delete logs"]),
        ("| Tool | Best for |\n|---|---|\n| `rg` | Text |", &["Text => use `rg`"]),
        (
            "## Choosing a chart\n\n- **Bars** - for few categories\n- **Lines** - for trends",
            &["few categories => use Bars", "trends => use Lines"],
        ),
        (
            "```\nIs it small?\n├─ Yes → Inline it\n└─ No → Split it\n```",
            &["it is small => Inline it", "it is not small => Split it"],
        ),
        // Not decisions.
        ("If no name is given, the tool returns a default.", &["no name is given => the tool returns a default"]),
        ("For example, add a footer.", &[]),
        ("For more details, see the manual.", &[]),
        ("Tell me when it is saved.", &[]),
        ("Close the browser when done.", &[]),
        ("| Name | Description |\n|---|---|\n| a | b |", &[]),
        ("```\nsrc\n├── a → b\n└── c\n```", &[]),
        ("## When to use this skill\n\n- If you need charts, use this", &[]),
    ];
    table(cases, |value| {
        let items = value["decisions"].as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| format!("{} => {}", item["when"].as_str().unwrap(), item["then"].as_str().unwrap()))
            .collect()
    });
}

#[test]
fn commands_and_their_syntax() {
    let cases: &[(&str, &[&str])] = &[
        ("```bash\ngit status\n```", &["git.status: git status"]),
        ("```sh\nnpm run build && npm test\n```", &["npm.run.build: npm run build", "npm.test: npm test"]),
        ("```bash\npython scripts/fill.py <file>\n```", &["fill: python scripts/fill.py <file>"]),
        ("```console\n$ tool open <url>\nopened\n```", &["tool.open: tool open <url>"]),
        (
            "```bash\ntool get text @e1\ntool get html @e1\n```",
            &["tool.get.text: tool get text <ref>", "tool.get.html: tool get html <ref>"],
        ),
        ("```bash\ntool list --limit 5\ntool list\n```", &["tool.list: tool list [--limit <limit>]"]),
        ("```bash\nif [ -f x ]; then\n  cargo build\nfi\n```", &["cargo.build: cargo build"]),
        ("```bash\nHEAD=$(git rev-parse HEAD)\n```", &["git.rev-parse: git rev-parse HEAD"]),
        (
            "```bash\nacme a \"x && y\" | acme b > out.txt 2>&1; acme c\n```",
            &["acme.a: acme a <text>", "acme.b: acme b", "acme.c: acme c"],
        ),
        ("```bash\ncat > f <<'EOF'\nacme x\nEOF\nacme \\\n  next <<< in\n```", &["acme.next: acme next"]),
        ("Run `gh pr create --fill`.", &["gh.pr.create: gh pr create --fill"]),
        ("| Task | Command |\n|---|---|\n| Plan | `terraform plan` |", &["terraform.plan: terraform plan"]),
        ("```http\nGET /v1/users\n```", &["get.v1-users: GET /v1/users"]),
        ("```bash\ntool set {on|off}\n```", &["tool.set: tool set <on|off>"]),
        // Not commands of the skill.
        ("```bash\ncd src\nls -la\necho done\n```", &[]),
        ("```python\ngit = 1\n```", &[]),
        ("Never run `git push --force`.", &[]),
        ("❌ **Wrong:**\n\n```bash\nnpm publish\n```", &[]),
        ("```bash\n# BAD\nnpm publish\n```", &[]),
        ("```\nsrc/\n  main.rs\n```", &[]),
        ("The `git` tool is needed.", &[]),
    ];
    table(cases, |value| {
        let commands = value["commands"].as_object().cloned().unwrap_or_default();
        commands.iter().map(|(key, command)| format!("{key}: {}", command["syntax"].as_str().unwrap())).collect()
    });
}

#[test]
fn types_aliases_and_flags() {
    let text = "---\nname: tool\ndescription: A tool.\nallowed-tools: Bash(tool:*)\n---\n\n```bash\ntool open <url>   # Go there (aliases: goto, visit)\ntool serve <port> --watch\ntool --profile <name> ...  # Settings to use\n```\n\n## Options\n\n| Flag | Meaning |\n|---|---|\n| `--mode` | `fast` (default), `slow` |\n";
    let value = document(text, &[]).into_raw_value();
    let open = &value["commands"]["open"];
    assert_eq!((&open["args"][0]["name"], &open["args"][0]["type"]), (&"url".into(), &"string".into()));
    assert_eq!((&open["description"], texts(&open["aliases"])), (&"Go there".into(), vec!["goto", "visit"]));
    let serve = &value["commands"]["serve"];
    assert_eq!((&serve["args"][0]["type"], &serve["flags"][0]["type"]), (&"int".into(), &"bool".into()));
    let flags = value["global_flags"].as_array().unwrap();
    let profile = flags.iter().find(|flag| flag["name"] == "--profile").unwrap();
    assert_eq!((&profile["type"], &profile["purpose"]), (&"string".into(), &"Settings to use".into()));
    let mode = flags.iter().find(|flag| flag["name"] == "--mode").unwrap();
    assert_eq!(
        (&mode["type"], &mode["default"], texts(&mode["values"])),
        (&"enum".into(), &"fast".into(), vec!["fast", "slow"])
    );
    assert_eq!(value["meta"]["type"], "cli");
}

#[test]
fn procedures() {
    let cases: &[(&str, &[&str])] = &[
        ("## Release workflow\n\n1. Bump the version\n2. Tag it\n3. Push the tag", &["release-workflow 3"]),
        ("## Do it\n\n### Step 1: Read\n\nx\n\n### Step 2: Write\n\ny", &["do-it 2"]),
        ("## Gate\n\n```\n1. RUN the command\n2. READ the output\n3. REPORT what it says\n```", &["gate 3"]),
        ("## Install\n\nFirst, fetch the archive. Then, unpack it. Finally, run the installer.", &["install 3"]),
        ("## Setup\n\n1. `npm ci`\n2. `npm run build`", &["setup 2"]),
        ("## Example: Log in\n\n```bash\ntool open x\ntool fill a\ntool click b\ntool save c\n```", &["log-in 4"]),
        ("## 1. Read the input\n\na\n\n## 2. Check the input\n\nb\n\n## 3. Write the output\n\nc", &["demo 3"]),
        // Not procedures.
        ("## Principles\n\n1. Keep it small\n2. Test it\n3. Ship it", &[]),
        ("## Diagram types\n\n1. Bars\n2. Lines\n3. Heat maps", &[]),
        ("## Choosing a tool\n\n1. Use one for text\n2. Use two for code\n3. Use three for data", &[]),
        ("## Questions\n\n1. Who asks?\n2. What for?\n3. Until when?", &[]),
        ("- Open it\n- Read it\n- Close it", &[]),
    ];
    table(cases, |value| {
        let found = value["workflows"].as_object().cloned().unwrap_or_default();
        found.iter().map(|(key, one)| format!("{key} {}", one["steps"].as_array().unwrap().len())).collect()
    });
}

#[test]
fn variables() {
    let cases: &[(&str, &[&str])] = &[
        ("```bash\nexport API_TOKEN=abc\n```", &["API_TOKEN"]),
        ("Set `SERVICE_API_KEY` in your environment.", &["SERVICE_API_KEY"]),
        ("```python\nos.environ[\"DB_PASSWORD\"]\n```", &["DB_PASSWORD"]),
        ("```js\nprocess.env.SITE_NAME\n```", &["SITE_NAME"]),
        ("## Environment variables\n\n```bash\nTOOL_HOME=\"/opt\"  # Where it lives\n```", &["TOOL_HOME"]),
        ("| Variable | Purpose |\n|---|---|\n| `CACHE_DIR` | Where to keep things |", &["CACHE_DIR"]),
        ("```yaml\nenv:\n  X: ${{ secrets.DEPLOY_TOKEN }}\n```", &["DEPLOY_TOKEN"]),
        (
            "Environment:\n\n- `TOOL_DEPTH`: how deep it looks\n- `TOOL_COLOR`: prints colors",
            &["TOOL_DEPTH", "TOOL_COLOR"],
        ),
        ("```bash\ntool list\n```\n\nThe state is kept below `$TOOL_HOME`.", &["TOOL_HOME"]),
        // Not the skill's.
        ("Constants:\n\n- `TOOL_DEPTH`: how deep it looks", &[]),
        ("Pass `$ARGUMENTS` on.", &[]),
        ("```bash\nGIT_ROOT=$(git rev-parse --show-toplevel)\necho $GIT_ROOT\n```", &[]),
        ("```bash\necho $HOME $PATH\n```", &[]),
        ("The constant `MAX_RETRIES` is three.", &[]),
        ("```bash\nfor FILE_NAME in *; do echo $FILE_NAME; done\n```", &[]),
    ];
    table(cases, |value| {
        let items = value["environment"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    });
}

#[test]
fn pointers() {
    let cases: &[(&str, &[&str])] = &[
        ("See [guide](references/guide.md).", &["guide=references/guide.md"]),
        ("Docs: https://docs.acme.dev/api/users.", &["acme:api/users=https://docs.acme.dev/api/users"]),
        ("Read `references/a.md` first.", &["a=references/a.md"]),
        ("[B](../b/SKILL.md)", &["b=../b/SKILL.md"]),
        ("| File | Use |\n|---|---|\n| [x](references/x.md) | Details |", &["x=references/x.md"]),
        ("[a](https://a.dev/x) and [b](https://a.dev/x)", &["a:x=https://a.dev/x"]),
        ("[top](#top)", &[]),
        ("Open http://localhost:3000 or https://example.com/x.", &[]),
        ("```bash\ncurl https://api.acme.dev/x\n```", &[]),
        ("Read `<name>.md` and `src/*.rs`.", &[]),
    ];
    table(cases, |value| {
        let items = value["sources"].as_array().cloned().unwrap_or_default();
        let target = |item: &Value| item["url"].as_str().or(item["path"].as_str()).unwrap_or_default().to_owned();
        items.iter().map(|item| format!("{}={}", item["id"].as_str().unwrap(), target(item))).collect()
    });
}

#[test]
fn patterns() {
    let cases: &[(&str, &[&str])] = &[
        ("## Message format\n\n```text\n<type>: <subject>\n```", &["demo.message-format"]),
        ("## Flowchart\n\n```mermaid\nflowchart LR\n```", &["mermaid.flowchart"]),
        ("Allowed types: `feat`, `fix`, and `docs`.", &["demo.types"]),
        ("## Query syntax\n\n```sql\nselect {column} from {table}\n```", &["demo.query-syntax"]),
        ("Valid levels: low, middle, high.", &["demo.levels"]),
        ("## Report template\n\n```markdown\n# [Title]\n```", &["demo.report-template"]),
        ("```bash\ntool <url>\n```", &[]),
        ("```python\nprint(1)\n```", &[]),
        ("```\nplain output\n```", &[]),
        ("```\nsrc\n└── <name>\n```", &[]),
    ];
    table(cases, |value| keys(&value["reference"]).into_iter().map(str::to_owned).collect());
}

#[test]
fn bundled_scripts_are_sources_and_templates_are_templates() {
    let text = "---\nname: demo\ndescription: x\n---\n\n- `templates/form.sh` - Fills a form\n- `scripts/fill.py` - Fills it faster\n\n```bash\nsh templates/form.sh in.pdf\n```\n";
    let found =
        document(text, &["scripts/fill.py", "scripts/other.sh", "templates/form.sh", "scripts/__init__.py", "LICENSE"]);
    let templates = &found.raw_value()["templates"];
    assert_eq!(keys(templates), ["form"]);
    assert_eq!(
        (&templates["form"]["description"], &templates["form"]["path"], &templates["form"]["usage"]),
        (&"Fills a form".into(), &"templates/form.sh".into(), &"sh templates/form.sh in.pdf".into())
    );
    let paths: Vec<&str> = found.raw_value()["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["scripts/fill.py", "scripts/other.sh"]);
    let doubted: Vec<String> =
        found.facts.iter().filter(|fact| fact.doubt.is_some()).map(|fact| format!("{:?}", fact.path)).collect();
    assert_eq!(doubted.len(), 1, "{doubted:?}");
}

#[test]
fn triggers_come_from_the_description_and_from_declarations() {
    let text = "---\nname: pdf-forms\ndescription: Fills PDF forms (.pdf files). Use when the user wants to fill a form, or when a form fails. Says \"fill it in\".\nwhen_to_use:\n  mentions: [Acrobat]\n  file_types: [fdf]\n  intents: [sign a contract]\n---\n\n## When to use\n\n- Forms with many fields\n\n## When not to use\n\n- Plain text\n";
    let value = document(text, &[]).into_raw_value();
    let triggers = &value["triggers"];
    assert_eq!(
        texts(&triggers["intents"]),
        ["sign a contract", "the user wants to fill a form", "a form fails", "fill it in", "Forms with many fields"]
    );
    assert_eq!(texts(&triggers["file_patterns"]), ["*.fdf", "*.pdf"]);
    let keywords = texts(&triggers["keywords"]);
    assert!(keywords.starts_with(&["acrobat", "pdf", "forms"]), "{keywords:?}");
}

#[test]
fn lifecycles_are_read_only_where_they_are_named() {
    let cases: &[(&str, &[&str])] = &[
        ("Tokens expire after one hour.", &["token < one hour"]),
        ("Session cookies become invalid when the server restarts.", &["session-cookie < the server restarts"]),
        ("The lease is invalidated by a second login.", &["lease < a second login"]),
        ("Refs go stale after navigation.", &["ref < navigation"]),
        ("All handles are invalid once the file is closed.", &["handle < the file is closed"]),
        ("A session holds cookies.", &[]),
        ("If it is invalid, stop.", &[]),
        ("The input is invalid.", &[]),
        ("This becomes stale after a day.", &[]),
        ("Sessions are stored on disk.", &[]),
    ];
    table(cases, |value| {
        let items = value["state"]["entities"].as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| format!("{} < {}", item["name"].as_str().unwrap(), texts(&item["invalidated_by"]).join("|")))
            .collect()
    });
}

#[test]
fn names_types_and_descriptions() {
    let of = |text: &str| document(text, &[]).raw_value()["meta"].clone();
    for (name, expected) in
        [("My Skill", "my-skill"), ("x", "x"), ("2-fast", "fast"), ("日本", "skill"), ("a_b", "a-b")]
    {
        assert_eq!(of(&format!("---\nname: {name}\ndescription: d\n---\n"))["name"], expected);
    }
    let long = format!("---\nname: x\ndescription: {}\n---\n", "A sentence that is long enough. ".repeat(40));
    let short = of(&long)["description"].as_str().unwrap().to_owned();
    assert!(short.chars().count() <= 500 && short.ends_with('.'), "{short}");
    assert_eq!(of("---\nname: x\ndescription: d\n---\n\nNever guess data.\n")["type"], "knowledge");
    assert_eq!(of("---\nname: x\ndescription: d\n---\n\n`GET /v1/a` and `POST /v1/b`\n")["type"], "api");
    assert_eq!(of("---\nname: x\ndescription: d\n---\n\n```bash\ngit status\n```\n")["type"], "hybrid");
    assert_eq!(of("no frontmatter at all")["name"], "demo");
}

#[test]
fn every_fact_knows_its_line() {
    let text = "---\nname: demo\ndescription: d\n---\n\n# Demo\n\nSome words\nin two lines. Never guess\nthe schema.\n\nIf it is red, see [doc](references/d.md).\n";
    let found = document(text, &[]);
    let line = |section: &str| {
        let fact = found.facts.iter().find(|fact| fact.path.contains(&ValuePathStep::Key(section.to_owned())));
        fact.map(|fact| fact.line)
    };
    assert_eq!(
        (line("name"), line("never"), line("decisions"), line("sources")),
        (Some(2), Some(9), Some(12), Some(12))
    );
    assert_eq!(found.raw_value()["decisions"][0]["ref"], "d");
}

/// UC-07: what is shown as wrong, and who says it, are no rules.
#[test]
fn what_is_shown_as_wrong_is_no_rule() {
    for body in [
        "Wrong: always push --force.",
        "**Bad**: Never write tests.",
        "Incorrect: You must use HTTP.",
        "Myth: you must always restart it.",
        "❌ Always commit to main",
        "A reviewer wrote:\n\n> You must never merge on Friday.",
        "> Ensure that every branch is deleted, she said.",
        "- ❌ Always commit to main",
        "## Anti-patterns\n\n- Always retry forever",
    ] {
        let value = of_body(body);
        assert_eq!(
            (texts(&value["constraints"]["always"]), texts(&value["constraints"]["never"])),
            (vec![], vec![]),
            "{body}"
        );
    }
}

#[test]
fn a_box_of_the_author_holds_rules() {
    for (body, rule) in
        [("> **Warning**: never delete the log.", "delete the log"), ("> Never share keys.", "share keys")]
    {
        assert_eq!(texts(&of_body(body)["constraints"]["never"]), [rule], "{body}");
    }
}

/// UC-04, UC-05: a condition stays with its rule, wherever it stands.
#[test]
fn conditions_stay_with_their_rules() {
    let cases: &[(&str, &[&str])] = &[
        ("In production, never restart the server.", &["restart the server in production"]),
        ("As root, never delete files.", &["delete files as root"]),
        ("Except in tests, do not use mocks.", &["use mocks except in tests"]),
        (
            "If the user is an admin:\n\n- Never ask for confirmation.",
            &["ask for confirmation if the user is an admin"],
        ),
        ("Never share keys.", &["share keys"]),
    ];
    table(cases, |value| texts(&value["constraints"]["never"]).into_iter().map(str::to_owned).collect());
}

/// UC-06: the third form the specification names.
#[test]
fn what_is_recommended_over_something_is_preferred() {
    let cases: &[(&str, &[&str])] = &[
        ("Postgres is recommended over MySQL for new projects.", &["Postgres > MySQL @ new projects"]),
        ("Composition is generally preferred over inheritance.", &["Composition > inheritance"]),
        (
            "Server components are preferred over client components when data is static.",
            &["Server components > client components @ data is static"],
        ),
        ("Use A instead of B unless C holds.", &["A > B @ unless C holds"]),
        ("Prefer A over B, except on Windows.", &["A > B @ except on Windows"]),
        ("Do not use X instead of Y.", &[]),
        ("It is not recommended over anything.", &[]),
        ("The recommended order is alphabetical.", &[]),
    ];
    table(cases, |value| {
        let items = value["constraints"]["prefer"].as_array().cloned().unwrap_or_default();
        let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let when = |item: &Value| item["when"].as_str().map(|when| format!(" @ {when}")).unwrap_or_default();
        items.iter().map(|item| format!("{} > {}{}", text(item, "use"), text(item, "over"), when(item))).collect()
    });
}

const TOOL: &str = "---\nname: tool\ndescription: A tool.\nallowed-tools: Bash(tool:*)\n---\n\n# Tool\n\n";

/// UC-09: what a command returns, the values its flags choose from, and the columns of tables.
#[test]
fn returns_choices_and_defaults_are_read() {
    let text = format!(
        "{TOOL}```bash\ntool text <ref>   # Returns the text of an element\ntool text <ref>\ntool open <url>\n```\n\n\
         `tool export --format json|csv|xml` writes the report.\n\n\
         | Command | Returns | Description |\n|---|---|---|\n| `tool status` | JSON with `up` | Show the state |\n\n\
         | Option | Description | Default |\n|---|---|---|\n| `--timeout <ms>` | How long to wait | 30000 |\n| `--all` | Take all | - |\n"
    );
    let value = document(&text, &[]).into_raw_value();
    let commands = &value["commands"];
    assert_eq!(commands["text"]["returns"], "the text of an element");
    assert_eq!(commands["text"].get("variants"), None, "the same call twice is one");
    assert_eq!(
        (&commands["status"]["returns"], &commands["status"]["description"]),
        (&"JSON with `up`".into(), &"Show the state".into())
    );
    let format = &commands["export"]["flags"][0];
    assert_eq!((&format["type"], texts(&format["values"])), (&"enum".into(), vec!["json", "csv", "xml"]));
    let flags = value["global_flags"].as_array().unwrap();
    let timeout = flags.iter().find(|flag| flag["name"] == "--timeout").unwrap();
    assert_eq!(
        (&timeout["default"], &timeout["purpose"], &timeout["type"]),
        (&30_000.into(), &"How long to wait".into(), &"int".into())
    );
    assert_eq!(flags.iter().find(|flag| flag["name"] == "--all").unwrap().get("default"), None);
}

/// UC-09: endpoints have arguments too.
#[test]
fn endpoints_take_what_their_path_names() {
    let value = of_body("- `GET /v1/users/{id}/pages/:count` returns the pages\n- `POST /v1/users` creates a user");
    let get = &value["commands"]["get.v1-users-id-pages-count"];
    let arguments: Vec<String> =
        get["args"].as_array().unwrap().iter().map(|one| format!("{} {}", one["name"], one["type"])).collect();
    assert_eq!(arguments, ["\"id\" \"string\"", "\"count\" \"int\""]);
    assert_eq!(get["returns"], "the pages");
    assert_eq!(value["commands"]["post.v1-users"].get("args"), None);
}

/// UC-10: who makes a thing, who uses it, who ends it, on both sides.
#[test]
fn a_named_lifecycle_links_entity_and_commands() {
    let text = format!(
        "{TOOL}```bash\ntool login <user>\ntool status\ntool logout\n```\n\n\
         Session ids are created by `tool login`, used by `tool status`, and become invalid after `tool logout`. The cache always expires after an hour.\n"
    );
    let value = document(&text, &[]).into_raw_value();
    let entities = value["state"]["entities"].as_array().unwrap();
    assert_eq!(entities[0]["name"], "session-id");
    assert_eq!(texts(&entities[0]["created_by"]), ["login"]);
    assert_eq!(texts(&entities[0]["consumed_by"]), ["status"]);
    assert_eq!(texts(&entities[0]["invalidated_by"]), ["logout"]);
    let link = |command: &str, key: &str| texts(&value["commands"][command][key]).join(",");
    assert_eq!((link("login", "creates"), link("status", "requires")), ("session-id".into(), "session-id".into()));
    assert_eq!(link("logout", "invalidates"), "session-id");
    assert_eq!(entities[1]["name"], "cache");
    for command in ["login", "status", "logout"] {
        assert_eq!(value["commands"][command].get("description"), None, "a sentence with holes describes nothing");
    }
}

/// UC-11: prose in one sentence, beside a list.
#[test]
fn procedures_in_prose() {
    let value = of_body(
        "## Log in\n\nFirst open the page, then fill the form, and finally click the button.\n\n\
         ## Release\n\n1. Bump the version\n2. Tag it\n3. Push the tag",
    );
    let steps = |key: &str| -> Vec<String> {
        let steps = value["workflows"][key]["steps"].as_array().cloned().unwrap_or_default();
        steps.iter().map(|step| step["cmd"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(steps("log-in"), ["open the page", "fill the form", "click the button"]);
    assert_eq!(steps("release").len(), 3);
}

/// UC-14: a default the text names, and the clause that is about the variable.
#[test]
fn variables_have_defaults_and_their_own_clause() {
    let value = of_body(
        "Set `TOOL_TOKEN` in the environment; `$TOOL_URL` defaults to `http://localhost`.\n\nSet `TOOL_MODE` in your environment (default: fast).",
    );
    let items = value["environment"].as_array().unwrap();
    let one = |name: &str| items.iter().find(|item| item["name"] == name).unwrap().clone();
    assert_eq!(one("TOOL_TOKEN").get("default"), None);
    assert_eq!(one("TOOL_URL")["default"], "http://localhost");
    assert_eq!(one("TOOL_MODE")["default"], "fast");
    assert!(!one("TOOL_TOKEN")["purpose"].as_str().unwrap().contains("localhost"), "{items:?}");
}

#[test]
fn a_source_has_a_use_if_the_text_states_one() {
    for (body, expected) in [
        ("See [the guide](references/guide.md) for the lifecycle of refs.", "the lifecycle of refs"),
        ("- [Options](https://docs.acme.dev/options): primary design reference", "primary design reference"),
        ("- https://docs.acme.dev/tour - API overview", "API overview"),
        ("See [one](a.md) and [two](b.md) for more.", ""),
    ] {
        let value = of_body(body);
        assert_eq!(value["sources"][0]["use_for"].as_str().unwrap_or_default(), expected, "{body}");
    }
}

#[test]
fn the_purpose_of_a_variable_is_what_it_is_set_for() {
    let value = of_body(
        "Set `TOOL_TOKEN` to authenticate, and `TOOL_COLOR=never` to turn colors off. Set the variable `TOOL_LEVEL` to 3.",
    );
    let purposes = value["environment"].as_array().unwrap().iter().map(|item| item["purpose"].clone());
    assert_eq!(purposes.collect::<Vec<_>>(), ["authenticate", "turn colors off", "tool level"]);
}

/// UC-15: a use case is cut at a word, and says so.
#[test]
fn a_long_use_case_is_cut_at_a_word() {
    let long = "checking ".repeat(40);
    let made = document(&format!("---\nname: demo\ndescription: Use when {long}.\n---\n"), &[]);
    let intent = made.raw_value()["triggers"]["intents"][0].as_str().unwrap();
    assert!(intent.len() <= 200 && intent.ends_with("checking"), "{intent}");
    assert!(made.facts.iter().any(|fact| fact.doubt.as_deref() == Some("shortened")), "{:?}", made.facts);
}
