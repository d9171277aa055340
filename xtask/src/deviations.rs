//! The deliberate deviations from the five specifications and from our own rules, and the page that lists them.
//!
//! This table is the only list. `cargo xtask gen` writes it to `docs/reference/deviations.md`.

/// One place where `rep` deliberately differs from the letter of a specification.
struct Deviation {
    /// The specification.
    specification: &'static str,
    /// The section.
    section: &'static str,
    /// What the specification says.
    says: &'static str,
    /// What `rep` does.
    does: &'static str,
    /// Why.
    because: &'static str,
}

const UNIVERSAL: &str = "Universal Agent Skill 2.1";
const AAM: &str = "UAAPS/AAM, chapter 4";
const AGENTSKILLS: &str = "agentskills.io";
const UASP: &str = "UASP 1.0.0-draft";
const PMCP: &str = "x-personal-mcp";
const COMMAND_LINE: &str = "The command line of rep";

const fn deviation(
    (specification, section): (&'static str, &'static str),
    says: &'static str,
    does: &'static str,
    because: &'static str,
) -> Deviation {
    Deviation { specification, section, says, does, because }
}

/// The deviations, by specification and section.
const DEVIATIONS: &[Deviation] = &[
    deviation(
        (UNIVERSAL, "§3, Appendix A"),
        "unknown top-level fields are refused (`additionalProperties: false`)",
        "warns; an error with `--profile universal`",
        "the schema lacks `license`, `metadata` and all fields of other hosts, so no portable skill could pass",
    ),
    deviation(
        (UNIVERSAL, "Appendix A, patterns"),
        "the patterns are printed with doubled backslashes and `\\d`",
        "reads them with single backslashes and ASCII digits, and checks versions as SemVer 2.0; `--seed-regex` uses \
         the printed patterns",
        "taken literally, the specification's own example fails",
    ),
    deviation(
        (UNIVERSAL, "§3, when_to_use"),
        "`when_to_use` is an object of triggers",
        "also loads a text: it is added to the description, and never scored; `rep check` reports an error",
        "the same field is a text in the frontmatter of Claude Code and of x-personal-mcp",
    ),
    deviation(
        (UNIVERSAL, "§3, reserved words"),
        "the name must not contain words that a host reserves; the words are not listed",
        "refuses `anthropic` and `claude`",
        "these are the words of the Claude API, and of the x-personal-mcp contract",
    ),
    deviation(
        (UNIVERSAL, "§6, projection to MCP"),
        "the names of tools are preserved",
        "`rep export` and `rep serve` name a tool `SKILL__TOOL`; `--tool-names auto` or `plain` preserves the name",
        "two skills may have a tool of the same name, and names are unique in an MCP server",
    ),
    deviation(
        (UNIVERSAL, "§8, safety"),
        "the `safety` block is required",
        "warns if it is missing, and applies the safest defaults",
        "the schema of the same specification makes it optional",
    ),
    deviation(
        (UNIVERSAL, "§8, untrusted sources"),
        "untrusted skills should be reviewed",
        "skills of a project are listed as `untrusted`, and neither disclosed nor run until `rep trust`",
        "a model obeys the text of a skill, so reading it is already a risk",
    ),
    deviation(
        (UNIVERSAL, "§10, named skills"),
        "a skill or tool that the user names is selected",
        "a name of one word counts only where the sentence uses it as a name; `/name` and `--skill` always count",
        "\"review this\" does not name a skill called `review`",
    ),
    deviation(
        (UNIVERSAL, "Claude API host"),
        "at most 8 skills per request and 8 MB per upload",
        "warns above those limits; today's limits of the host are errors",
        "the specification says that the limits of a host win for that host",
    ),
    deviation(
        (UNIVERSAL, "Claude API host, headers"),
        "requests need the beta headers `code-execution-2025-08-25` and `skills-2025-10-02`",
        "the printed request has none; `rep hosts claude-api` names both, with dates",
        "the host has not required them since 2026-08-20",
    ),
    deviation(
        (UNIVERSAL, "Codex CLI host"),
        "Codex has no discovery of skills of its own",
        "writes skills where Codex finds them, and approval rules",
        "Codex discovers skills today",
    ),
    deviation(
        (AAM, "commands"),
        "`input.command` of a test is a shell command without further limits",
        "runs it in the sandbox, in a copy of the skill, with a minimal environment",
        "a test of a stranger's skill is a stranger's code",
    ),
    deviation(
        (AAM, "discovery, packages"),
        "skills in `<package>/skills/` are always named `package:skill`",
        "skills in the `skills/` directory of the project itself keep plain names",
        "the chapter lists `./skills/` as the project scope, too",
    ),
    deviation(
        (AAM, "discovery"),
        "project skills win over personal ones, \"as in Claude Code\"",
        "follows the rule, not the comparison; `--precedence claude-code` has the order of Claude Code",
        "Claude Code documents the opposite order",
    ),
    deviation(
        (AGENTSKILLS, "name"),
        "the name must match the directory",
        "warns; an error with `--profile agentskills` and in `rep validate`",
        "hosts load such skills, and directories are renamed when they are copied",
    ),
    deviation(
        (AGENTSKILLS, "allowed-tools"),
        "a text, separated by spaces",
        "also loads lists and commas, with a warning; a space inside parentheses separates nothing",
        "many public skills are written like this, and loading is lenient",
    ),
    deviation(
        (AGENTSKILLS, "skills-ref, frontmatter"),
        "the reference tool ends the frontmatter at the first `---`, even inside a value",
        "ends it at a line that is exactly `---`",
        "the reference tool cuts values and drops fields silently, and the specification wins over the tool",
    ),
    deviation(
        (AGENTSKILLS, "skills-ref, crashes"),
        "the reference tool ends with a traceback on bad UTF-8, NUL bytes and a directory named SKILL.md",
        "prints an error and exits with 1",
        "bad input is normal input",
    ),
    deviation(
        (AGENTSKILLS, "skills-ref, YAML"),
        "the reference tool refuses lists and mappings in brackets",
        "accepts them; `rep check` notes that the reference tool does not",
        "they are ordinary YAML, and the specification asks for YAML",
    ),
    deviation(
        (AGENTSKILLS, "skills-ref, names of directories"),
        "`validate .` compares the name with an empty text",
        "compares it with the name of the directory",
        "the directory has a name, however it is written",
    ),
    deviation(
        (AGENTSKILLS, "skills-ref, to-prompt"),
        "the reference tool does not escape the location",
        "escapes it",
        "a path can contain markup",
    ),
    deviation(
        (UASP, "§3.1, reference"),
        "values in `reference` are text",
        "accepts lists of text with a warning; `--strict-schema` refuses them",
        "the specification's own example has lists",
    ),
    deviation(
        (UASP, "§3.3, content version"),
        "the hash of a file with dates, sets, binary values or duplicate keys is undefined: Python fails, or \
         silently drops a value",
        "reports the line; duplicate keys are an error",
        "a hash must mean the same for every reader",
    ),
    deviation(
        (UASP, "§5.5, lifecycles"),
        "entries such as `created_by` name what changes an entity",
        "an entry that is the path of a command takes effect; other text is documentation",
        "the example has free text there, such as \"page-changing clicks\"",
    ),
    deviation(
        (UASP, "§5.8, workflow steps"),
        "a step can redirect output: `get text body > content.txt`",
        "shows steps that need a shell, and never runs them",
        "nothing that a skill writes reaches a shell",
    ),
    deviation(
        (UASP, "§5.11, environment"),
        "`default` is text, and the example says `default: null`",
        "treats null as absent, with a warning",
        "the example contradicts the schema",
    ),
    deviation(
        (UASP, "§5.11, variables"),
        "`environment` lists the variables that a program reads",
        "variables that load code into programs, and proxies, are not passed on, and are reported",
        "they would lead around the sandbox",
    ),
    deviation(
        (UASP, "§6.1, filters"),
        "filters use `fnmatch`, where `?` and `[` are special",
        "only `*` is special; `%26 %3D %3F %2A %25` are decoded",
        "filters could otherwise not name those characters",
    ),
    deviation(
        (UASP, "§6.1, keys with dots"),
        "the printed code splits a path at every dot",
        "finds the longest key first",
        "the example has keys such as `sequence.parallel`, which the printed code cannot find",
    ),
    deviation(
        (UASP, "§6.1, lists"),
        "a list search without a match is found, with an empty list; an item without the key matches `*`",
        "answers that nothing was found; an item must have the key",
        "an empty answer is not an answer",
    ),
    deviation(
        (UASP, "§7.1.4, prompt"),
        "the prompt for a model is printed word by word",
        "uses the same structure in other words, with a guard against instructions in the skill",
        "the text of a skill is data, also for a model",
    ),
    deviation(
        (UASP, "§7.2, documentation"),
        "the printed code writes some of the sections",
        "writes all sections, in a form that converts back to the same content version",
        "what is not written would be lost",
    ),
    deviation(
        (UASP, "§9.2, cache"),
        "answers are cached by name, path and filters",
        "caches them by the digest of the bytes",
        "a reloaded skill would be answered from its old content",
    ),
    deviation(
        (UASP, "§9.4, execution"),
        "commands run with `shell=True` and substituted text",
        "passes an argument vector; required and enumerated arguments are checked first",
        "substitution into a shell is injection",
    ),
    deviation(
        (UASP, "§9.3, effects"),
        "the effects of a command apply even if it failed",
        "a failed command creates nothing, and still invalidates",
        "state that a failed command did not create must not allow the next one",
    ),
    deviation(
        (PMCP, "validation, directory"),
        "a name that differs from the directory is a startup error",
        "warns, and loads the skill; an error with `--profile pmcp`",
        "the same skill is installed under other names, and its identity is `id`",
    ),
    deviation(
        (PMCP, "validation, startup"),
        "a hard violation is a startup error",
        "the skill is `invalid`: it is reported, and neither disclosed nor served; the other skills are. `rep serve \
         --strict` refuses to start",
        "one broken skill must not take away all others",
    ),
    deviation(
        (PMCP, "validation, version"),
        "the printed pattern refuses `1.0.0-rc.1+b.1`, and accepts `1.0.0-..`",
        "checks versions as SemVer 2.0; `--seed-regex` uses the printed pattern",
        "the text asks for semantic versions",
    ),
    deviation(
        (PMCP, "models, booleans"),
        "pydantic reads `\"yes\"` and `1` as booleans",
        "accepts YAML booleans, and warns about text",
        "other readers of the same file see text",
    ),
    deviation(
        (PMCP, "models, references"),
        "paths are checked as text",
        "also resolves them: a reference must exist, and no link may leave the skill",
        "a link could publish any file of the machine",
    ),
    deviation(
        (PMCP, "mapping to MCP"),
        "resources have the fields `tags` and `version`, and the annotations `readOnlyHint` and `idempotentHint`",
        "the server sends them in `_meta`, in the form of FastMCP; `rep export --host mcp` also writes them where \
         registration libraries read them",
        "a resource of MCP has no such fields, and SDKs drop fields that they do not know",
    ),
    deviation(
        (COMMAND_LINE, "exit codes, arguments of tools"),
        "wrong usage exits with 2",
        "arguments that are JSON and do not match the schema of the tool exit with 3, with the error `INVALID_ARGUMENT`; \
         text that is not JSON exits with 2",
        "the command was used correctly, and the call was refused: hosts and test suites tell refused calls and failed \
         runs from calls that could not be made",
    ),
];

/// Renders the page.
pub(crate) fn render_deviations() -> String {
    let mut text = String::from(
        "# Deviations\n\nWhere `rep` deliberately differs from the letter of a specification, or from its own rules, what it \
         does instead, and why. Everything else is meant to follow the specifications; a difference that is not listed here is a defect.\n",
    );
    let mut current = "";
    for one in DEVIATIONS {
        if one.specification != current {
            current = one.specification;
            text.push_str(&format!("\n## {current}\n\n| section | it says | `rep` | because |\n|---|---|---|---|\n"));
        }
        text.push_str(&format!("| {} | {} | {} | {} |\n", one.section, one.says, one.does, one.because));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_specification_has_one_table_and_no_cell_is_empty() {
        let page = render_deviations();
        for specification in [UNIVERSAL, AAM, AGENTSKILLS, UASP, PMCP, COMMAND_LINE] {
            assert_eq!(page.matches(&format!("## {specification}\n")).count(), 1, "{specification}");
        }
        for one in DEVIATIONS {
            let cells = [one.section, one.says, one.does, one.because];
            assert!(cells.iter().all(|cell| !cell.is_empty() && !cell.contains('|')), "{cells:?}");
        }
    }
}
