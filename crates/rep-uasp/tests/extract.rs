//! What each section takes from a text and what it leaves: sentences labelled by hand, one table per section.

use rep_model::{Skill, SkillTree};
use rep_uasp::extract::extract;
use rep_uasp::{Document, Step};
use serde_json::Value;

fn document(text: &str, files: &[&str]) -> Document {
    let mut all: Vec<(&str, &str)> = files.iter().map(|file| (*file, "")).collect();
    all.push(("SKILL.md", text));
    extract(&Skill::parse(SkillTree::of("demo", &all)).0)
}

/// Extracts a body below frontmatter that says little.
fn of_body(body: &str) -> Value {
    document(&format!("---\nname: demo\ndescription: Shows things.\n---\n\n# Demo\n\n{body}\n"), &[]).value
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
        ("```\nNO RELEASE WITHOUT A CHANGELOG\n```", &["release without a changelog"]),
        ("### Never rewrite public history\n\nIt breaks clones.", &["rewrite public history"]),
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
        ("**Our motto:** Facts first, always.", &["Facts first"]),
        ("Before deleting a file, list its users.", &["list its users before deleting a file"]),
        ("Only read files inside the folder.", &["Only read files inside the folder"]),
        ("Keep every answer under 200 words.", &["Keep every answer under 200 words"]),
        ("## Rules\n\n- Write small functions.\n- Name things well.", &["Write small functions", "Name things well"]),
        (
            "## Best practices\n\n1. **Start small** - Add one feature at a time",
            &["Start small - Add one feature at a time"],
        ),
        ("IMPORTANT: Use the staging key.", &["Use the staging key"]),
        // Not rules.
        ("The parser always returns a tree.", &[]),
        ("It must have been deleted.", &[]),
        ("Users must see a receipt.", &[]),
        ("Create diagrams from text.", &[]),
        ("This ensures that nothing is lost.", &[]),
        ("## Steps\n\n1. Open the file.\n2. Read it.\n3. Close it.", &[]),
        ("## Rules\n\n- Reference: the old manual", &[]),
        ("## Rules\n\n- Design tokens enable global changes\n- Clear contracts\n- Fields (ids must be unique)", &[]),
        ("See the manual for details.", &[]),
        ("## Notes on patches format\n\nFill the template.", &[]),
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
        ("Advise users to enable webhooks instead of polling.", &["enable webhooks > polling"]),
        ("Prioritize the new API. The old one is an acceptable alternative if time is short.", &["new API > old one"]),
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
        ("Check whether a key exists. If it does, use it.", &["a key exists => use it"]),
        ("If the user wants charts they should pick a theme.", &["the user wants charts => they should pick a theme"]),
        ("**If it fails:**\n\n- Read the log\n- Try again", &["it fails => Read the log; Try again"]),
        (
            "Use `a` for code, `b` for prose, and `c` for tables.",
            &["code => use `a`", "prose => use `b`", "tables => use `c`"],
        ),
        ("Add `draft` to the title for an early version.", &["an early version => Add `draft` to the title"]),
        ("| Situation | Action |\n|---|---|\n| Disk full | Delete logs |", &["Disk full => Delete logs"]),
        ("| Tool | Best for |\n|---|---|\n| `rg` | Text |", &["Text => use `rg`"]),
        (
            "## Choosing a chart\n\n- **Bars** - Few categories\n- **Lines** - Trends",
            &["Few categories => use Bars", "Trends => use Lines"],
        ),
        (
            "```\nIs it small?\n├─ Yes → Inline it\n└─ No → Split it\n```",
            &["it is small => Inline it", "it is not small => Split it"],
        ),
        ("Re-scan after bulk imports.", &["bulk imports => Re-scan"]),
        // Not decisions.
        ("If no name is given, the tool returns a default.", &[]),
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
        ("```yaml\nsteps:\n  - run: npm ci\n```", &["npm.ci: npm ci"]),
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
    let text = "---\nname: tool\ndescription: A tool.\nallowed-tools: Bash(tool:*)\n---\n\n```bash\ntool open <url>   # Go there (aliases: goto, visit)\ntool serve <port> --watch\ntool --profile <name> ...  # Settings to use (-p)\n```\n\n## Options\n\n| Flag | Meaning |\n|---|---|\n| `--mode` | `fast` (default), `slow` |\n";
    let value = document(text, &[]).value;
    let open = &value["commands"]["open"];
    assert_eq!((&open["args"][0]["name"], &open["args"][0]["type"]), (&"url".into(), &"string".into()));
    assert_eq!((&open["description"], texts(&open["aliases"])), (&"Go there".into(), vec!["goto", "visit"]));
    let serve = &value["commands"]["serve"];
    assert_eq!((&serve["args"][0]["type"], &serve["flags"][0]["type"]), (&"int".into(), &"bool".into()));
    let flags = value["global_flags"].as_array().unwrap();
    let profile = flags.iter().find(|flag| flag["name"] == "--profile").unwrap();
    assert_eq!((&profile["short"], &profile["purpose"]), (&"-p".into(), &"Settings to use".into()));
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
        // Not the skill's.
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
        ("- **examples/** - samples:\n  - `one.py` - the first", &["one=examples/one.py"]),
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
fn bundled_scripts_are_templates() {
    let text = "---\nname: demo\ndescription: x\n---\n\n- `scripts/fill.py` - Fills a form\n\n```bash\npython scripts/fill.py in.pdf\n```\n";
    let found = document(
        text,
        &["scripts/fill.py", "scripts/other.sh", "references/notes.md", "scripts/__init__.py", "LICENSE"],
    );
    let templates = &found.value["templates"];
    assert_eq!(keys(templates), ["fill", "other"]);
    assert_eq!(
        (&templates["fill"]["description"], &templates["fill"]["path"]),
        (&"Fills a form".into(), &"scripts/fill.py".into())
    );
    assert_eq!(templates["fill"]["usage"], "python scripts/fill.py in.pdf");
    assert_eq!(found.value["sources"][0]["path"], "references/notes.md");
    let doubted: Vec<String> =
        found.facts.iter().filter(|fact| fact.doubt.is_some()).map(|fact| format!("{:?}", fact.path)).collect();
    assert_eq!(doubted.len(), 2, "{doubted:?}");
}

#[test]
fn triggers_come_from_the_description_and_from_declarations() {
    let text = "---\nname: pdf-forms\ndescription: Fills PDF forms (.pdf files). Use when the user wants to fill a form, or when a form fails. Says \"fill it in\".\nwhen_to_use:\n  mentions: [Acrobat]\n  file_types: [fdf]\n  intents: [sign a contract]\n---\n\n## When to use\n\n- Forms with many fields\n\n## When not to use\n\n- Plain text\n";
    let value = document(text, &[]).value;
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
    let of = |text: &str| document(text, &[]).value["meta"].clone();
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
        let fact = found.facts.iter().find(|fact| fact.path.contains(&Step::Key(section.to_owned())));
        fact.map(|fact| fact.line)
    };
    assert_eq!(
        (line("name"), line("never"), line("decisions"), line("sources")),
        (Some(2), Some(9), Some(12), Some(12))
    );
    assert_eq!(found.value["decisions"][0]["ref"], "d");
}
