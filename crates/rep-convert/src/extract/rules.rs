//! The extraction rules: their ids, their confidence, and examples that tests run.
//!
//! Facts found by a confident rule become part of the document. The others are included only on request.

/// The minimum confidence, in percent, for the results of a rule to become facts.
pub const CONFIDENT_PERCENT_MIN: u8 = 80;

/// An extraction rule.
#[derive(Debug, PartialEq, Eq)]
pub struct ExtractionRule {
    /// The id, such as `never.marker`.
    pub id: &'static str,
    /// The UASP section of its candidates.
    pub section: &'static str,
    /// The confidence in percent.
    pub confidence: u8,
    /// The text pattern that it looks for.
    pub summary: &'static str,
    /// Markdown in which the rule finds something, each with a part of the result.
    pub matches: &'static [(&'static str, &'static str)],
    /// Markdown in which the rule finds nothing.
    pub not_matches: &'static [&'static str],
}

impl ExtractionRule {
    /// Returns whether the results of the rule become facts by default.
    pub fn is_confident(&self) -> bool {
        self.confidence >= CONFIDENT_PERCENT_MIN
    }

    /// Renders the description of the rule as Markdown.
    pub fn render_page(&self) -> String {
        let default = if self.is_confident() { "a fact" } else { "doubtful: only with `--include-doubtful`" };
        let mut page = format!("# {}\n\n{}.\n\n", self.id, self.summary);
        page.push_str(&format!("Section `{}`, confidence {} %, {default}.\n", self.section, self.confidence));
        for (markdown, found) in self.matches {
            page.push_str(&format!("\nFinds `{found}` in:\n\n````md\n{}\n````\n", markdown.trim_end()));
        }
        for markdown in self.not_matches {
            page.push_str(&format!("\nFinds nothing in:\n\n````md\n{}\n````\n", markdown.trim_end()));
        }
        page
    }
}

/// Finds a rule by its id.
pub fn find_rule(id: &str) -> Option<&'static ExtractionRule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

macro_rules! rules {
    ($($name:ident $id:literal $section:literal $confidence:literal $summary:literal
       [$($md:literal => $found:literal),* $(,)?] [$($not:literal),* $(,)?];)*) => {
        $(pub(crate) static $name: ExtractionRule = ExtractionRule {
            id: $id,
            section: $section,
            confidence: $confidence,
            summary: $summary,
            matches: &[$(($md, $found)),*],
            not_matches: &[$($not),*],
        };)*

        /// All rules, by section.
        pub static RULES: &[&ExtractionRule] = &[$(&$name),*];
    };
}

rules! {
    NEVER_MARKER "never.marker" "never" 95 "A sentence that forbids something: `never`, `do not`, `must not`, `avoid`"
        ["Never push to `main`." => "push", "Don't flatten modules just because they are small." => "just because they are small", "| Key | Notes |\n|-|-|\n| id | Never change this number |" => "change this"] ["## Examples\n\nNever push."];
    NEVER_IF "never.if" "never" 85 "A sentence that forbids something under a condition"
        ["If the build is red, do not merge." => "merge if the build is red"] ["If the build is red, read the log."];
    NEVER_MODAL "never.modal" "never" 80 "A sentence with `must not` or `must never` about a thing"
        ["Secrets must never be logged." => "let secrets be logged"] ["The build must be green."];
    NEVER_LISTED "never.listed" "never" 90 "An item below a heading or line that forbids something"
        ["## Do not\n\n- Force push\n- Guess paths" => "Guess paths"] ["## Do this\n\n- Force a rebuild"];
    NEVER_MARKED "never.marked" "never" 85 "A sentence after a cross mark"
        ["❌ Don't guess the path" => "guess the path"] ["✅ Ask for the path"];
    NEVER_TABLE "never.table" "never" 85 "A cell in a table column of things to avoid"
        ["| Never | Why |\n|-|-|\n| Push to main | It breaks |" => "Push"] ["| Path | Why |\n|-|-|\n| main | Safe |"];
    NEVER_NO "never.no" "never" 80 "`No` with a noun, in a list of rules or in capitals"
        ["## Rules\n\n- No force pushes" => "force pushes"]
        ["## Rules\n\n- Nothing else", "## Rules\n\nSymptoms of a bad review:\n\n- No opinions, just neutral reporting"];
    NEVER_MISTAKE "never.mistake" "never" 82 "An item in a list of mistakes"
        ["## Common mistakes\n\n- Guessing paths" => "Guessing paths"] ["## Symptoms\n\n- Guessing paths"];
    ALWAYS_MARKER "always.marker" "always" 92 "A sentence that requires something: `always`, `you must`, `make sure`"
        ["Always run the tests first." => "run the tests", "Make sure the server is up." => "Make sure the server"]
        ["It always rains.", "## Examples\n\nAlways run the tests."];
    ALWAYS_MODAL "always.modal" "always" 85 "A sentence with `must` about a thing"
        ["The table must be sorted by date." => "The table must be sorted by date"] ["The table is sorted by date."];
    ALWAYS_ONLY "always.only" "always" 88 "An instruction limited by `only`"
        ["Only edit generated files by hand." => "Only edit generated files by hand"] ["Edit the generated files."];
    ALWAYS_LISTED "always.listed" "always" 92 "An instruction below a heading that announces rules"
        ["## Best practices\n\n- Keep lines short" => "Keep lines short"] ["## Features\n\n- Keep lines short"];
    ALWAYS_PRINCIPLE "always.principle" "always" 85 "An item in a list of rules that names a thing and describes it"
        ["## Principles\n\n- **Pure core**: services return values to callers" => "services"] ["- **Pure core**: none"];
    ALWAYS_CHECKLIST "always.checklist" "always" 82 "A checklist item with a checkbox"
        ["## Checklist\n\n- [ ] HTTPS enabled" => "HTTPS enabled"] ["## Services\n\n- HTTPS enabled"];
    ALWAYS_REMEDY "always.remedy" "always" 85 "The solution to a pitfall, after its name"
        ["## Pitfalls\n\n- **Pages**: Check for a next one" => "Check for"] ["## Pitfalls\n\n- Guessing paths"];
    ALWAYS_NOTICE "always.notice" "always" 82 "An instruction in a warning box or after a check mark"
        ["> [!WARNING]\n> Stop the server first." => "Stop the server first"] ["> Stop the server first."];
    ALWAYS_BEFORE "always.before" "always" 80 "An instruction that applies before something else"
        ["Before deploying, run the tests." => "run the tests before deploying"] ["Before the war, there was peace."];
    ALWAYS_SHOULD "always.should" "always" 80 "Advice: `you should`, `aim for`"
        ["You should keep the old file." => "keep the old file"] ["The old file is kept."];
    ALWAYS_COMMAND "always.command" "always" 82 "An instruction in a paragraph"
        ["## Log\n\nTreat entries as published." => "Treat"] ["# Tool\n\nConvert it.\n\n## More\n", "1. Convert it."];
    ALWAYS_BOUNDED "always.bounded" "always" 85 "A step that sets a limit: `at most`, `before doing`"
        ["## Steps\n\n1. Keep it under 70 lines, at most 80 columns each" => "Keep it"] ["## Steps\n\n1. Keep it"];
    ALWAYS_STEP "always.step" "always" 45 "A step of a procedure, or an instruction in its text"
        ["## Steps\n\n1. Read the file" => "Read the file"] ["## Best practices\n\n- Read the file"];
    ALWAYS_STEP_DETAIL "always.step-detail" "always" 82 "An instruction after the first sentence of a step"
        ["## Steps\n\n1. Open the file. Keep a copy of it." => "Keep a copy of it"] ["## Steps\n\n1. Keep a copy."];
    ALWAYS_TABLE "always.table" "always" 85 "A cell in a table column of things to do"
        ["| Do | Don't |\n|-|-|\n| Write small commits | Squash |" => "Write"] ["| Name | Size |\n|-|-|\n| a | 3 |"];
    PREFER_OVER "prefer.over" "prefer" 92 "`Prefer this over that`"
        ["Prefer tabs over spaces when indenting." => "tabs"] ["Prefer tabs."];
    DECISION_PREFER "decision.prefer" "decisions" 85 "`Prefer this when that`"
        ["Prefer the cache when offline." => "offline"] ["Prefer the cache."];
    PREFER_ALONE "prefer.alone" "always" 82 "`Prefer this`, without an alternative"
        ["Prefer the explicit form." => "prefer explicit form"] ["Prefer tabs over spaces."];
    PREFER_INSTEAD "prefer.instead" "prefer" 88 "`Use this instead of that`"
        ["Use tabs instead of spaces." => "tabs", "Instead of guessing, use an index." => "index"] ["Do this instead."];
    PREFER_NOT "prefer.not" "prefer" 80 "`This, not that`"
        ["Assert behavior, not implementation." => "implementation"] ["Do not assert implementation."];
    PREFER_TABLE "prefer.table" "prefer" 82 "A table of things to avoid and what to use instead"
        ["| Avoid | Use |\n|-|-|\n| Guesses | The index |" => "The index"] ["| Path | Use |\n|-|-|\n| a | The index |"];
    DECISION_IF "decision.if" "decisions" 94 "`If this, do that`"
        ["If the file exists, read it." => "the file", "- **When offline**, use it" => "offline"] ["If so, it is."];
    DECISION_FOR "decision.for" "decisions" 88 "`For this case, do that`"
        ["For large files, use streaming." => "large files"] ["For example, use streaming."];
    DECISION_STATEMENT "decision.statement" "decisions" 85 "`If this, that happens`"
        ["If the token is set, the tool reads it." => "the token is set"] ["If the token is set, use it."];
    DECISION_POINTER "decision.pointer" "decisions" 82 "`For this, see that`"
        ["For schemas, see `references/schema.md`." => "schemas"] ["For schemas, use `a.md`."];
    DECISION_TRAILING "decision.trailing" "decisions" 90 "`Do this if that`"
        ["Use a release when no workflow exists." => "no workflow"] ["Use it when possible.", "Check if it exists."];
    DECISION_ELSEWHERE "decision.elsewhere" "decisions" 85 "What to use instead of the skill"
        ["## When not to use\n\n- Running checks: use another skill" => "Run"] ["## When to use\n\n- Running checks"];
    DECISION_USE_FOR "decision.use-for" "decisions" 88 "`Use this for that`"
        ["Use `ref` for refactoring, and `style` for formatting." => "formatting"] ["Use it for now."];
    DECISION_TABLE "decision.table" "decisions" 92 "A table with a column of conditions and a column of actions"
        ["| When | Do |\n|-|-|\n| Offline | Read a cache |" => "Offline"] ["| Name | Size |\n|-|-|\n| Offline | Big |"];
    DECISION_FAULT_TABLE "decision.fault-table" "decisions" 90 "A table of errors and fixes"
        ["| Error | Fix |\n|-|-|\n| Timeout | Retry once |" => "Timeout"] ["| Error | Count |\n|-|-|\n| Timeout | 3 |"];
    DECISION_TREE "decision.tree" "decisions" 88 "A decision tree drawn with lines"
        ["```\nIs it static?\n├─ Yes → Read it\n└─ No → Start it\n```" => "Read it"] ["```\na\n├─ lib\n└─ bin\n```"];
    DECISION_CASE "decision.case" "decisions" 85 "A line that names a case, with the actions in the list below it"
        ["If the build fails:\n\n- Read the log" => "the build fails"] ["The build:\n\n- Read the log"];
    DECISION_ARROW "decision.arrow" "decisions" 85 "A case and an action joined by an arrow"
        ["## Choosing\n\n- Static page → read the file" => "Static page"] ["## Steps\n\n- Read → write → test"];
    DECISION_FITTING "decision.fitting" "decisions" 85 "`Use when:` below the name of an alternative"
        ["### Streaming\n\n**Use when**: files are large" => "files"] ["### Streaming\n\n**Speed**: files are large"];
    DECISION_BY_CASE "decision.by-case" "decisions" 88 "A named item below a line with `based on`"
        ["Add items based on sector:\n\n- **Retail**: stock" => "Retail"] ["Add items:\n\n- **Retail**: stock"];
    DECISION_NAMED_WHEN "decision.named-when" "decisions" 85 "An item that names a thing and when or for what to use it"
        ["- **Lines**: use for trends over time" => "trends over time"] ["- **Lines**: thin and red"];
    DECISION_NAMED_USE "decision.named-use" "decisions" 85 "An item that names a case or a goal, and what to use for it"
        ["- Restrict to one provider: pass `--source`" => "Restrict to one"] ["- Provider: the one that answers"];
    DECISION_TROUBLE "decision.trouble" "decisions" 85 "An item that names an error and its fix"
        ["## Troubleshooting\n\n- **Disk full**: delete old logs" => "Disk full"] ["## Notes\n\n- **Disk full**: logs"];
    DECISION_REFERENCE "decision.reference" "decisions" 82 "An item that names a document and describes it"
        ["- [forms](references/forms.md) - filling forms" => "filling forms"] ["- [forms](forms.html) - forms"];
    COMMAND_CALL "command.call" "commands" 90 "A command line in a code block or a code span"
        ["```bash\ngit commit -m \"x\"\n```" => "git commit"] ["```python\nprint(1)\n```"];
    COMMAND_ENDPOINT "command.endpoint" "commands" 85 "An HTTP method with a URL or path"
        ["```\nGET /v1/users\n```" => "/v1/users"] ["```\nGIVE /v1/users\n```"];
    FLAG_GLOBAL "flag.global" "global_flags" 85 "A flag outside of any command"
        ["```bash\nntn files list\n```\n\nOverride with `-X`." => "-X"] ["Nothing here."];
    ENVIRONMENT_VARIABLE "environment.variable" "environment" 90 "An environment variable"
        ["Set `API_TOKEN` in the environment." => "API_TOKEN"] ["Set `token` in the file."];
    SOURCE_POINTER "source.pointer" "sources" 95 "A link or a file name"
        ["See [the guide](https://docs.python.org/guide)." => "https://docs.python.org/guide"] ["See the guide."];
    TEMPLATE_FILE "template.file" "templates" 90 "A file that is a template or an asset"
        ["Run `scripts/check.sh` or start from `templates/report.md`." => "templates/report.md"] ["Run it."];
    WORKFLOW_STEPS "workflow.steps" "workflows" 88 "Ordered steps"
        ["## Workflow\n\n1. Read the file\n2. Change it\n3. Run the tests" => "Read"] ["## Notes\n\n- Read it"];
    REFERENCE_BLOCK "reference.block" "reference" 80 "A block of text or a table for reference"
        ["## Commit format\n\n```text\n<type>: <subject>\n```" => "<type>"] ["## Notes\n\nNothing."];
    TRIGGER_TEXT "trigger.text" "triggers" 90 "Uses of the skill from the description and the frontmatter"
        ["---\nname: pdf\ndescription: Fills forms. Use when a user asks about \"form filling\".\n---\n" => "form"] [];
    STATE_ENTITY "state.entity" "state" 80 "An entity that becomes valid or invalid"
        ["```\ntool snapshot\n```\n\nRefs are invalidated when the page changes." => "ref"] ["Refs are stored."];
    META_FIELD "meta.field" "meta" 90 "The name, the type and the description"
        ["---\nname: pdf\ndescription: Fills forms.\n---\n" => "pdf"] [];
    PAGE_FIELD "page.field" "page" 99 "A field of a page generated from a UASP file"
        [] [];
}

#[cfg(test)]
mod tests {
    use rep_model::{Skill, SkillTree};

    use super::*;
    use crate::extract::{ExtractionOptions, extract_document_with};

    /// Returns the results of a rule in a text, as JSON.
    fn find_values(markdown: &str, rule: &ExtractionRule) -> Vec<String> {
        let text = if markdown.starts_with("---") {
            markdown.to_owned()
        } else {
            format!("---\nname: demo\ndescription: Shows things.\n---\n{markdown}\n")
        };
        let (skill, _) = Skill::parse(SkillTree::from_texts("demo", &[("SKILL.md", &text)]));
        let document = extract_document_with(
            &skill,
            &ExtractionOptions { include_doubtful: true, ..ExtractionOptions::default() },
        );
        let facts = document.facts.iter().filter(|fact| fact.rule == Some(rule.id));
        facts.filter_map(|fact| document.find_value(&fact.path)).map(ToString::to_string).collect()
    }

    #[test]
    fn every_rule_has_a_name_of_its_own_and_finds_what_its_examples_say() {
        let mut wrong = Vec::new();
        for (index, one) in RULES.iter().enumerate() {
            assert!(
                RULES[..index].iter().all(|other| other.id != one.id) && find_rule(one.id) == Some(*one),
                "{}",
                one.id
            );
            assert!(one.id == PAGE_FIELD.id || !one.matches.is_empty(), "{}", one.id);
            for (markdown, part) in one.matches {
                let found = find_values(markdown, one);
                if !found.iter().any(|value| value.contains(part)) {
                    wrong.push(format!("`{}` does not find `{part}` in {markdown:?}: {found:?}", one.id));
                }
            }
            for (markdown, found) in one.not_matches.iter().map(|markdown| (markdown, find_values(markdown, one))) {
                if !found.is_empty() {
                    wrong.push(format!("`{}` finds {found:?} in {markdown:?}", one.id));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
