//! The names of protected files and directories, each with the documentation that it was checked against.
//!
//! A name is here if a program runs, loads or obeys it without being asked for that file. Names are in lower case and in
//! order. To add one, look up where its program reads it, and give that page as its source. `Unverified` marks names that
//! nobody has compared with the documentation of their program; they are protected all the same.

/// Where a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameOrigin {
    /// A page that says which program reads the name on its own.
    Documented(&'static str),
    /// A manual page that says so.
    Manual(&'static str),
    /// A document that says so, in a repository, a package or a specification: what the table of hosts cites as well.
    Cited(&'static str),
    /// Known from use; not compared with a documentation.
    Unverified,
}

use NameOrigin as Source;

/// Files that shells, editors, agents, package managers and repository services read automatically.
pub(super) const PROTECTED_FILES: &[(&str, NameOrigin)] = &[
    (".aider.conf.yml", Source::Unverified),
    (".appveyor.yml", Source::Unverified),
    (".autoenv", Source::Unverified),
    (".autoenv.zsh", Source::Documented("https://github.com/Tarrasch/zsh-autoenv")),
    (".autoenv_leave.zsh", Source::Documented("https://github.com/Tarrasch/zsh-autoenv")),
    (".bash_aliases", Source::Cited("/etc/skel/.bashrc of Debian, which `~/.bashrc` is a copy of")),
    (".bash_login", Source::Manual("bash(1)")),
    (".bash_logout", Source::Manual("bash(1)")),
    (".bash_profile", Source::Manual("bash(1)")),
    (".bashrc", Source::Manual("bash(1)")),
    (".bazelrc", Source::Documented("https://bazel.build/run/bazelrc")),
    (".build.yml", Source::Unverified),
    (".cirrus.yml", Source::Unverified),
    (
        ".claude.json",
        Source::Documented("https://docs.rs/crate/llman/0.0.26/source/docs/agent-tools-contexts/claudecode/README.md"),
    ),
    (".continuerules", Source::Unverified),
    (".crush.json", Source::Documented("https://mintlify.com/charmbracelet/crush/configuration/overview")),
    (".cshrc", Source::Unverified),
    (".curlrc", Source::Manual("curl(1)")),
    (".cursorrules", Source::Documented("https://docs.cline.bot/customization/cline-rules")),
    (
        ".devcontainer.json",
        Source::Documented(
            "https://docs.github.com/codespaces/setting-up-your-project-for-codespaces/introduction-to-dev-containers",
        ),
    ),
    (
        ".dir-locals-2.el",
        Source::Documented("https://www.gnu.org/software/emacs/manual/html_node/elisp/Directory-Local-Variables.html"),
    ),
    (
        ".dir-locals.el",
        Source::Documented("https://www.gnu.org/software/emacs/manual/html_node/elisp/Directory-Local-Variables.html"),
    ),
    (".drone.yml", Source::Unverified),
    (".emacs", Source::Documented("https://www.gnu.org/software/emacs/manual/html_node/elisp/Init-File.html")),
    (".envrc", Source::Documented("https://manpages.ubuntu.com/manpages/kinetic/en/man1/direnv.1.html")),
    (".exrc", Source::Documented("https://vimhelp.org/starting.txt.html")),
    (".forward", Source::Manual("mailaddr(7)")),
    (".gdbearlyinit", Source::Unverified),
    (".gdbinit", Source::Unverified),
    (".gemrc", Source::Unverified),
    (".ghci", Source::Unverified),
    (".gitattributes", Source::Manual("gitattributes(5)")),
    (".gitconfig", Source::Manual("git-config(1)")),
    (".gitlab-ci.yml", Source::Unverified),
    (".gitmodules", Source::Manual("gitmodules(5)")),
    (".gitpod.yml", Source::Unverified),
    (".goosehints", Source::Unverified),
    (".hgrc", Source::Unverified),
    (".iex.exs", Source::Unverified),
    (".inputrc", Source::Manual("bash(1)")),
    (".irbrc", Source::Unverified),
    (".kilocodemodes", Source::Unverified),
    (".kshrc", Source::Unverified),
    (".lazy.lua", Source::Documented("https://newreleases.io/project/github/folke/lazy.nvim/release/v10.21.0")),
    (".lefthook-local.json", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook-local.jsonc", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook-local.toml", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook-local.yaml", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook-local.yml", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook.json", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook.jsonc", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook.toml", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook.yaml", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook.yml", Source::Documented("https://lefthook.dev/configuration")),
    (".lldbinit", Source::Unverified),
    (".login", Source::Manual("tset(1)")),
    (".lvimrc", Source::Unverified),
    (".mailcap", Source::Manual("zshcontrib(1)")),
    (".mcp.json", Source::Documented("https://docs.aitmpl.com/cli/configuration")),
    (".mise.local.toml", Source::Unverified),
    (".mise.toml", Source::Documented("https://mise.jdx.dev/configuration.html")),
    (".npmrc", Source::Documented("https://docs.npmjs.com/cli/configuring-npm/npmrc")),
    (".nvim.lua", Source::Unverified),
    (".nvimrc", Source::Documented("https://neovim.io/doc/user/options.html")),
    (".ocamlinit", Source::Documented("https://gallium.inria.fr/~remy/poly/ocaml/htmlman/manual023.html")),
    (".octaverc", Source::Documented("https://gnu.org/software/octave/doc/interpreter/Startup-Files.html")),
    (".opencode.json", Source::Unverified),
    (".overcommit.yml", Source::Documented("https://github.com/sds/overcommit")),
    (".pam_environment", Source::Manual("pam_env(7)")),
    (".pdbrc", Source::Documented("https://docs.python.org/3/library/pdb.html")),
    (
        ".perldb",
        Source::Documented("https://www.oreilly.com/library/view/programming-perl-4th/9781449321451/ch18s03s02.html"),
    ),
    (".pnp.cjs", Source::Documented("https://www.volcengine.com/article/2229095")),
    (".pnpmfile.cjs", Source::Documented("https://pnpm.io/10.x/pnpmfile")),
    (".pre-commit-config.yaml", Source::Unverified),
    (".profile", Source::Manual("bash(1)")),
    (".pryrc", Source::Unverified),
    (".psqlrc", Source::Manual("psql(1)")),
    (".renviron", Source::Documented("https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html")),
    (".roomodes", Source::Unverified),
    (".roorules", Source::Unverified),
    (".rprofile", Source::Documented("https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html")),
    (".rules", Source::Unverified),
    (".rvmrc", Source::Unverified),
    (".screenrc", Source::Unverified),
    (".sdkmanrc", Source::Documented("https://gist.github.com/dogukancagatay/a438c8261cf35196781dcb2be56b1717")),
    (".sqliterc", Source::Manual("sqlite3(1)")),
    (".tcshrc", Source::Unverified),
    (".tmux.conf", Source::Manual("tmux(1)")),
    (
        ".tool-versions",
        Source::Documented(
            "https://github.com/asdf-vm/asdf/blob/5b7d0fea0a10681d89dd7bf4010e0a39e6696841/docs/manage/configuration.md",
        ),
    ),
    (".travis.yml", Source::Unverified),
    (".vimrc", Source::Documented("https://vimhelp.org/starting.txt.html")),
    (".wgetrc", Source::Manual("wget(1)")),
    (".windsurfrules", Source::Documented("https://docs.cline.bot/customization/cline-rules")),
    (".woodpecker.yaml", Source::Documented("https://www.woodpecker-ci.org/docs/intro")),
    (".woodpecker.yml", Source::Documented("https://woodpecker-ci.org/docs/1.0/intro")),
    (".xinitrc", Source::Unverified),
    (".xprofile", Source::Unverified),
    (".xsession", Source::Manual("Xsession(5)")),
    (".xsessionrc", Source::Manual("Xsession(5)")),
    (".yarnrc", Source::Documented("https://www.cnblogs.com/bq-med/articles/19136383")),
    (".yarnrc.yml", Source::Documented("https://github.com/oclif/oclif/pull/1229")),
    (".zlogin", Source::Manual("zsh(1)")),
    (".zlogout", Source::Manual("zsh(1)")),
    (".zprofile", Source::Manual("zsh(1)")),
    (".zshenv", Source::Manual("zsh(1)")),
    (".zshrc", Source::Manual("zsh(1)")),
    ("agent.md", Source::Unverified),
    ("agents.md", Source::Documented("https://docs.cline.bot/features/cline-rules/overview")),
    ("agents.override.md", Source::Documented("https://developers.openai.com/codex/guides/agents-md")),
    ("appveyor.yml", Source::Unverified),
    ("azure-pipelines.yml", Source::Unverified),
    ("bitbucket-pipelines.yml", Source::Unverified),
    ("claude.local.md", Source::Documented("https://docs.anthropic.com/docs/claude-code/memory")),
    ("claude.md", Source::Documented("https://docs.anthropic.com/docs/claude-code/memory")),
    ("crush.json", Source::Documented("https://mintlify.com/charmbracelet/crush/configuration/overview")),
    ("crush.md", Source::Unverified),
    ("fastagent.config.yaml", Source::Unverified),
    ("firebender.json", Source::Unverified),
    ("gemini.md", Source::Unverified),
    ("jenkinsfile", Source::Unverified),
    ("lefthook-local.json", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook-local.jsonc", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook-local.toml", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook-local.yaml", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook-local.yml", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook.json", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook.jsonc", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook.toml", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook.yaml", Source::Documented("https://lefthook.dev/configuration")),
    ("lefthook.yml", Source::Documented("https://lefthook.dev/configuration")),
    ("mise.local.toml", Source::Unverified),
    ("mise.toml", Source::Documented("https://mise.jdx.dev/configuration.html")),
    ("opencode.json", Source::Documented("https://opencode.ai/docs/config")),
    ("opencode.jsonc", Source::Documented("https://opencode.ai/docs/config")),
    ("qwen.md", Source::Unverified),
    ("rep.yaml", Source::Cited("docs/reference/settings.md of this repository")),
    ("rust-toolchain", Source::Documented("https://github.com/Mu-L/rustup/pull/15/files")),
    ("rust-toolchain.toml", Source::Documented("https://rust-lang.github.io/rustup/overrides.html")),
    ("warp.md", Source::Unverified),
];

/// Extensions of files that editors open as settings, whatever their name.
pub(super) const PROTECTED_ENDINGS: &[(&str, NameOrigin)] = &[(".code-workspace", Source::Unverified)];

/// Directories whose whole content is protected, and files with the same names.
pub(super) const PROTECTED_FOLDERS: &[(&str, NameOrigin)] = &[
    (".agent", Source::Cited("autohandai/code-cli 122c3a3, docs/agent-skills.md")),
    (".agent-packages", Source::Cited("UAAPS/AAM, chapter 4, discovery")),
    (".agents", Source::Documented("https://fast-agent.ai/agents/skills/")),
    (".agentskills", Source::Cited("generalaction/emdash documentation, features/skills")),
    (".aiassistant", Source::Unverified),
    (".amazonq", Source::Unverified),
    (".amp", Source::Unverified),
    (".assistant", Source::Documented("https://docs.databricks.com/aws/en/genie-code/skills")),
    (".augment", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".autohand", Source::Cited("autohandai/code-cli 122c3a3, docs/agent-skills.md")),
    (".bashrc.d", Source::Unverified),
    (".buildkite", Source::Unverified),
    (".builds", Source::Unverified),
    (".circleci", Source::Unverified),
    (".claude", Source::Documented("https://fast-agent.ai/agents/skills/")),
    (".cline", Source::Unverified),
    (".clinerules", Source::Documented("https://docs.cline.bot/features/cline-rules/overview")),
    (".codeium", Source::Cited("Windsurf documentation, cascade skills; Devin product guide, skills")),
    (".codex", Source::Cited("Codex CLI 0.166.0, run")),
    (".cognition", Source::Cited("Windsurf documentation, cascade skills; Devin product guide, skills")),
    (
        ".commandcode",
        Source::Cited("npm skills 1.7.4, docs/agents.md; addyosmani/agent-skills, docs/commandcode-setup.md"),
    ),
    (".continue", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".copilot", Source::Cited("microsoft/vscode-docs, docs/agent-customization/agent-skills.md")),
    (".cortex", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".cursor", Source::Documented("https://cursor.com/docs/reference/plugins")),
    (".deepcode", Source::Cited("lessweb/deepcode-cli 00ebc2d, README.md")),
    (
        ".devcontainer",
        Source::Documented(
            "https://docs.github.com/codespaces/setting-up-your-project-for-codespaces/introduction-to-dev-containers",
        ),
    ),
    (".devin", Source::Cited("Windsurf documentation, cascade skills; Devin product guide, skills")),
    (".emacs.d", Source::Documented("https://www.gnu.org/software/emacs/manual/html_node/elisp/Init-File.html")),
    (".factory", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".fast-agent", Source::Documented("https://fast-agent.ai/agents/skills/")),
    (".firebender", Source::Documented("https://docs.firebender.com/api-reference/skills")),
    (".fleet", Source::Unverified),
    (".gemini", Source::Cited("Gemini CLI 0.61.0, run")),
    (".githooks", Source::Unverified),
    (".gnupg", Source::Manual("gpg(1)")),
    (".goose", Source::Cited("block/goose, documentation/docs/guides/context-engineering/using-skills.md")),
    (".helix", Source::Unverified),
    (".hermes", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".husky", Source::Unverified),
    (".idea", Source::Unverified),
    (".junie", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".kilocode", Source::Unverified),
    (".kiro", Source::Cited("Kiro documentation, skills; npm skills 1.7.4")),
    (".lefthook", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook-local", Source::Documented("https://lefthook.dev/configuration/source_dir_local.html")),
    (".letta", Source::Cited("letta-ai/letta-code 04f7dd4, src/agent/skills.ts")),
    (".mux", Source::Cited("coder/mux 05fc884, docs/agents/agent-skills.mdx")),
    (".mvn", Source::Unverified),
    (".nanobot", Source::Cited("HKUDS/nanobot, skills/clawhub/SKILL.md and docs/configuration.md")),
    (".nvm", Source::Unverified),
    (".oh-my-zsh", Source::Unverified),
    (".ona", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".openclaw", Source::Documented("https://docs.openclaw.ai/tools/skills")),
    (".opencode", Source::Cited("OpenCode 1.18.33, run")),
    (".openhands", Source::Documented("https://docs.openhands.dev/overview/skills")),
    (".pi", Source::Cited("badlogic/pi-mono 11c1627, packages/coding-agent/docs/skills.md")),
    (".qwen", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".rep", Source::Unverified),
    (".roo", Source::Cited("RooCodeInc/Roo-Code-Docs 5b75289, docs/features/skills.mdx")),
    (".rovodev", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".semaphore", Source::Unverified),
    (".skills", Source::Cited("letta-ai/letta-code 04f7dd4, src/agent/skills.ts")),
    (".ssh", Source::Manual("ssh(1)")),
    (".tabnine", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".teamcity", Source::Unverified),
    (".trae", Source::Cited("npm skills 1.7.4, docs/agents.md; TRAE documentation, skills")),
    (".vibe", Source::Cited("mistralai/mistral-vibe 0088bc8, README.md, skill discovery")),
    (".vim", Source::Documented("https://vimhelp.org/options.txt.html")),
    (".vs", Source::Unverified),
    (".vscode", Source::Unverified),
    (".vscode-server", Source::Documented("https://github.com/GlueOps/codespaces/pull/521.patch")),
    (".vtcode", Source::Cited("vinhnx/VTCode 0404333, docs/skills/SKILLS_GUIDE.md")),
    (".windsurf", Source::Cited("Windsurf documentation, cascade skills; Devin product guide, skills")),
    (".woodpecker", Source::Unverified),
    (".zed", Source::Unverified),
];

/// Protected entries of directories that also contain unprotected ones.
pub(super) const PROTECTED_PAIRS: &[([&str; 2], NameOrigin)] = &[
    ([".ai", "skills"], Source::Cited("laravel/docs 149cdb5, boost.md, custom skills")),
    ([".aws", "config"], Source::Unverified),
    ([".aws", "credentials"], Source::Unverified),
    ([".bundle", "config"], Source::Unverified),
    ([".cargo", "bin"], Source::Unverified),
    ([".cargo", "config"], Source::Documented("https://doc.rust-lang.org/cargo/reference/config.html")),
    ([".cargo", "config.toml"], Source::Documented("https://doc.rust-lang.org/cargo/reference/config.html")),
    ([".cargo", "env"], Source::Unverified),
    ([".config", "agents"], Source::Cited("Amp manual, agent skills")),
    ([".config", "amp"], Source::Cited("Amp manual, agent skills")),
    ([".config", "autostart"], Source::Unverified),
    ([".config", "code"], Source::Unverified),
    ([".config", "crush"], Source::Cited("npm skills 1.7.4, docs/agents.md")),
    ([".config", "environment.d"], Source::Manual("environment.d(5)")),
    ([".config", "fish"], Source::Documented("https://fishshell.com/docs/current/index.html")),
    ([".config", "git"], Source::Manual("git-config(1)")),
    ([".config", "github-copilot"], Source::Unverified),
    ([".config", "goose"], Source::Cited("block/goose, documentation/docs/guides/context-engineering/using-skills.md")),
    ([".config", "lefthook-local.json"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook-local.jsonc"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook-local.toml"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook-local.yaml"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook-local.yml"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook.json"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook.jsonc"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook.toml"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook.yaml"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "lefthook.yml"], Source::Documented("https://lefthook.dev/configuration")),
    ([".config", "mise"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    ([".config", "mise.toml"], Source::Unverified),
    ([".config", "nvim"], Source::Manual("nvim(1)")),
    ([".config", "opencode"], Source::Cited("npm skills 1.7.4, docs/agents.md")),
    ([".config", "pip"], Source::Documented("https://pip.pypa.io/en/stable/topics/configuration/")),
    ([".config", "systemd"], Source::Manual("systemd.unit(5)")),
    ([".config", "zed"], Source::Unverified),
    ([".config", "zsh"], Source::Unverified),
    ([".docker", "cli-plugins"], Source::Unverified),
    ([".docker", "config.json"], Source::Unverified),
    ([".forgejo", "workflows"], Source::Unverified),
    ([".gitea", "workflows"], Source::Unverified),
    ([".github", "actions"], Source::Unverified),
    ([".github", "agents"], Source::Unverified),
    ([".github", "chatmodes"], Source::Unverified),
    (
        [".github", "copilot-instructions.md"],
        Source::Documented(
            "https://docs.github.com/en/copilot/how-tos/configure-custom-instructions-in-your-ide/add-repository-instructions-in-your-ide",
        ),
    ),
    ([".github", "dependabot.yaml"], Source::Unverified),
    ([".github", "dependabot.yml"], Source::Unverified),
    ([".github", "hooks"], Source::Unverified),
    (
        [".github", "instructions"],
        Source::Documented(
            "https://docs.github.com/en/copilot/how-tos/configure-custom-instructions-in-your-ide/add-repository-instructions-in-your-ide",
        ),
    ),
    ([".github", "prompts"], Source::Unverified),
    ([".github", "skills"], Source::Cited("GitHub Copilot CLI 1.0.102, run")),
    ([".github", "workflows"], Source::Unverified),
    ([".gradle", "init.d"], Source::Unverified),
    ([".kube", "config"], Source::Manual("gcloud_container_clusters_get-credentials(1)")),
    ([".local", "bin"], Source::Manual("file-hierarchy(7)")),
    ([".m2", "settings.xml"], Source::Documented("https://maven.apache.org/settings.html")),
    ([".mise", "config.local.toml"], Source::Unverified),
    ([".mise", "config.toml"], Source::Unverified),
    ([".pip", "pip.conf"], Source::Documented("https://pip.pypa.io/en/stable/topics/configuration/")),
    (
        [".snowflake", "cortex"],
        Source::Documented(
            "https://docs.snowflake.com/user-guide/cortex-code/cortex-code-snowsight/skills-and-plugins",
        ),
    ),
    ([".subversion", "config"], Source::Unverified),
    ([".venv", "bin"], Source::Unverified),
    ([".yarn", "releases"], Source::Documented("https://github.com/oclif/oclif/pull/1229")),
    (["venv", "bin"], Source::Unverified),
];

/// Whether a list has a name.
pub(super) fn has_name<N: PartialEq>(list: &[(N, NameOrigin)], name: &N) -> bool {
    list.iter().any(|(known, _)| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of names without a source. It may only shrink.
    const UNVERIFIED_MAX: usize = 102;

    #[test]
    fn names_are_in_order_in_lower_case_and_have_a_source() {
        for list in [PROTECTED_FILES, PROTECTED_ENDINGS, PROTECTED_FOLDERS] {
            assert!(list.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(list.iter().all(|(name, _)| *name == name.to_lowercase()));
        }
        assert!(PROTECTED_PAIRS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let pairs = PROTECTED_PAIRS.iter().map(|(_, source)| source);
        let names = [PROTECTED_FILES, PROTECTED_ENDINGS, PROTECTED_FOLDERS].into_iter().flatten();
        let sources: Vec<NameOrigin> = names.map(|(_, source)| *source).chain(pairs.copied()).collect();
        for source in &sources {
            let is_sound = match source {
                NameOrigin::Documented(page) => page.starts_with("https://"),
                NameOrigin::Manual(page) => page.ends_with(')'),
                NameOrigin::Cited(text) => text.contains(' '),
                NameOrigin::Unverified => true,
            };
            assert!(is_sound, "{source:?}");
        }
        let unverified = sources.iter().filter(|source| **source == NameOrigin::Unverified).count();
        assert!(unverified <= UNVERIFIED_MAX, "{unverified} names have no source");
    }
}
