//! The names of protected files and directories, each with the documentation that it was checked against.
//!
//! A name is here if a program runs, loads or obeys it without being asked for that file. Names are in lower case and in
//! order. To add one, look up where its program reads it, and give that page as its source. A name without a source is not
//! added: protecting a file that no program obeys only hinders tools.

/// Where a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameOrigin {
    /// A page that says which program reads the name on its own.
    Documented(&'static str),
    /// A manual page that says so.
    Manual(&'static str),
    /// A document that says so, in a repository, a package or a specification: what the table of hosts cites as well.
    Cited(&'static str),
}

use NameOrigin as Source;

/// Files that shells, editors, agents, package managers and repository services read automatically.
pub(super) const PROTECTED_FILES: &[(&str, NameOrigin)] = &[
    (".aider.conf.yml", Source::Documented("https://aider.chat/docs/config/aider_conf.html")),
    (".appveyor.yml", Source::Cited("appveyor/website d59487f, src/docs/build-configuration.md")),
    (".autoenv.zsh", Source::Documented("https://github.com/Tarrasch/zsh-autoenv")),
    (".autoenv_leave.zsh", Source::Documented("https://github.com/Tarrasch/zsh-autoenv")),
    (".bash_aliases", Source::Cited("/etc/skel/.bashrc of Debian, which `~/.bashrc` is a copy of")),
    (".bash_login", Source::Manual("bash(1)")),
    (".bash_logout", Source::Manual("bash(1)")),
    (".bash_profile", Source::Manual("bash(1)")),
    (".bashrc", Source::Manual("bash(1)")),
    (".bazelrc", Source::Documented("https://bazel.build/run/bazelrc")),
    (
        ".build.yml",
        Source::Documented("https://git.sr.ht/~sircmpwn/sr.ht-docs/commit/54a3ada3205acd4ca2638c5230c19a4cec1d9d25"),
    ),
    (".cirrus.yml", Source::Documented("https://cirrus-ci.org/guide/writing-tasks")),
    (
        ".claude.json",
        Source::Documented("https://docs.rs/crate/llman/0.0.26/source/docs/agent-tools-contexts/claudecode/README.md"),
    ),
    (".continuerules", Source::Cited("continuedev/continue d0a3c0b, core/config/getWorkspaceContinueRuleDotFiles.ts")),
    (".crush.json", Source::Documented("https://mintlify.com/charmbracelet/crush/configuration/overview")),
    (".cshrc", Source::Manual("tcsh(1)")),
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
    (".drone.yml", Source::Cited("drone/docs d89a395, content/api/repos/repo_info.md")),
    (".emacs", Source::Documented("https://www.gnu.org/software/emacs/manual/html_node/elisp/Init-File.html")),
    (".envrc", Source::Documented("https://manpages.ubuntu.com/manpages/kinetic/en/man1/direnv.1.html")),
    (".exrc", Source::Documented("https://vimhelp.org/starting.txt.html")),
    (".forward", Source::Manual("mailaddr(7)")),
    (
        ".gdbearlyinit",
        Source::Documented("https://www.sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html"),
    ),
    (
        ".gdbinit",
        Source::Documented("https://www.sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html"),
    ),
    (".gemrc", Source::Cited("rubygems/guides a5b54b5, command-reference.md")),
    (".ghci", Source::Cited("the users guide of GHC 9.0.2, GHCi, section 3.9")),
    (".gitattributes", Source::Manual("gitattributes(5)")),
    (".gitconfig", Source::Manual("git-config(1)")),
    (
        ".gitlab-ci.yml",
        Source::Documented("https://oneuptime.com/blog/post/2026-01-25-build-cicd-pipelines-gitlab-ci/view"),
    ),
    (".gitmodules", Source::Manual("gitmodules(5)")),
    (".gitpod.yml", Source::Documented("https://www.gitpod.io/docs/configure/workspaces/tasks")),
    (
        ".goosehints",
        Source::Cited("block/goose e94f304, documentation/docs/guides/context-engineering/using-goosehints.md"),
    ),
    (".hgrc", Source::Manual("hgrc(5)")),
    (".iex.exs", Source::Manual("iex(1)")),
    (".inputrc", Source::Manual("bash(1)")),
    (".irbrc", Source::Manual("irb(1)")),
    (".kilocodemodes", Source::Cited("Kilo-Org/kilocode ff74e2e, packages/kilo-docs/pages/customize/custom-modes.md")),
    (".kshrc", Source::Manual("ksh93(1)")),
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
    (".lldbinit", Source::Manual("lldb(1)")),
    (".login", Source::Manual("tset(1)")),
    (".lvimrc", Source::Cited("embear/vim-localvimrc b249c5a, README.md")),
    (".mailcap", Source::Manual("zshcontrib(1)")),
    (".mcp.json", Source::Documented("https://docs.aitmpl.com/cli/configuration")),
    (".mise.local.toml", Source::Documented("https://mise.jdx.dev/configuration.html")),
    (".mise.toml", Source::Documented("https://mise.jdx.dev/configuration.html")),
    (".npmrc", Source::Documented("https://docs.npmjs.com/cli/configuring-npm/npmrc")),
    (".nvim.lua", Source::Cited("neovim/neovim b296666, runtime/doc/options.txt, exrc")),
    (".nvimrc", Source::Documented("https://neovim.io/doc/user/options.html")),
    (".ocamlinit", Source::Documented("https://gallium.inria.fr/~remy/poly/ocaml/htmlman/manual023.html")),
    (".octaverc", Source::Documented("https://gnu.org/software/octave/doc/interpreter/Startup-Files.html")),
    (".opencode.json", Source::Cited("opencode-ai/opencode f0571f5, README.md")),
    (".overcommit.yml", Source::Documented("https://github.com/sds/overcommit")),
    (".pam_environment", Source::Manual("pam_env(7)")),
    (".pdbrc", Source::Documented("https://docs.python.org/3/library/pdb.html")),
    (
        ".perldb",
        Source::Documented("https://www.oreilly.com/library/view/programming-perl-4th/9781449321451/ch18s03s02.html"),
    ),
    (".pnp.cjs", Source::Documented("https://www.volcengine.com/article/2229095")),
    (".pnpmfile.cjs", Source::Documented("https://pnpm.io/10.x/pnpmfile")),
    (".pre-commit-config.yaml", Source::Cited("pre-commit/pre-commit.com a3ced3d, sections/plugins.md")),
    (".profile", Source::Manual("bash(1)")),
    (".pryrc", Source::Manual("pry(1)")),
    (".psqlrc", Source::Manual("psql(1)")),
    (".renviron", Source::Documented("https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html")),
    (".roomodes", Source::Cited("RooCodeInc/Roo-Code-Docs 487827a, docs/basic-usage/using-modes.md")),
    (".roorules", Source::Cited("RooCodeInc/Roo-Code-Docs 487827a, docs/features/custom-instructions.md")),
    (".rprofile", Source::Documented("https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html")),
    (".rules", Source::Cited("zed-industries/zed 7eec892, docs/src/ai/instructions.md")),
    (".rvmrc", Source::Cited("rvm/rvm-site 6247068, content/workflow/projects.md")),
    (".screenrc", Source::Manual("screen(1)")),
    (".sdkmanrc", Source::Documented("https://gist.github.com/dogukancagatay/a438c8261cf35196781dcb2be56b1717")),
    (".sqliterc", Source::Manual("sqlite3(1)")),
    (".tcshrc", Source::Manual("tcsh(1)")),
    (".tmux.conf", Source::Manual("tmux(1)")),
    (
        ".tool-versions",
        Source::Documented(
            "https://github.com/asdf-vm/asdf/blob/5b7d0fea0a10681d89dd7bf4010e0a39e6696841/docs/manage/configuration.md",
        ),
    ),
    (".travis.yml", Source::Cited("travis-ci/docs-travis-ci-com 224f072, user/customizing-the-build.md")),
    (".vimrc", Source::Documented("https://vimhelp.org/starting.txt.html")),
    (".wgetrc", Source::Manual("wget(1)")),
    (".windsurfrules", Source::Documented("https://docs.cline.bot/customization/cline-rules")),
    (".woodpecker.yaml", Source::Documented("https://www.woodpecker-ci.org/docs/intro")),
    (".woodpecker.yml", Source::Documented("https://woodpecker-ci.org/docs/1.0/intro")),
    (".xinitrc", Source::Manual("startx(1)")),
    (".xprofile", Source::Cited("/etc/gdm3/Xsession of Debian, package gdm3 43.0-3")),
    (".xsession", Source::Manual("Xsession(5)")),
    (".xsessionrc", Source::Manual("Xsession(5)")),
    (".yarnrc", Source::Documented("https://www.cnblogs.com/bq-med/articles/19136383")),
    (".yarnrc.yml", Source::Documented("https://github.com/oclif/oclif/pull/1229")),
    (".zlogin", Source::Manual("zsh(1)")),
    (".zlogout", Source::Manual("zsh(1)")),
    (".zprofile", Source::Manual("zsh(1)")),
    (".zshenv", Source::Manual("zsh(1)")),
    (".zshrc", Source::Manual("zsh(1)")),
    ("agent.md", Source::Cited("agentmd/agent.md e86e5c8, README.md")),
    ("agents.md", Source::Documented("https://docs.cline.bot/features/cline-rules/overview")),
    ("agents.override.md", Source::Documented("https://developers.openai.com/codex/guides/agents-md")),
    ("appveyor.yml", Source::Cited("appveyor/website d59487f, src/docs/build-configuration.md")),
    (
        "azure-pipelines.yml",
        Source::Documented("https://swisskyrepo.github.io/InternalAllTheThings/devops/azure-devops"),
    ),
    (
        "bitbucket-pipelines.yml",
        Source::Documented("https://support.atlassian.com/bitbucket-cloud/docs/custom-configuration-files/"),
    ),
    ("claude.local.md", Source::Documented("https://docs.anthropic.com/docs/claude-code/memory")),
    ("claude.md", Source::Documented("https://docs.anthropic.com/docs/claude-code/memory")),
    ("crush.json", Source::Documented("https://mintlify.com/charmbracelet/crush/configuration/overview")),
    ("crush.md", Source::Cited("charmbracelet/crush 37f36e9, internal/config/config.go")),
    ("fast-agent.config.yaml", Source::Cited("evalstate/fast-agent 610a2f5, src/fast_agent/home.py")),
    ("fast-agent.yaml", Source::Cited("evalstate/fast-agent 610a2f5, src/fast_agent/home.py")),
    ("fastagent.config.yaml", Source::Cited("evalstate/fast-agent 610a2f5, src/fast_agent/home.py")),
    ("firebender.json", Source::Documented("https://docs.firebender.com/api-reference/syntax")),
    ("gemini.md", Source::Cited("google-gemini/gemini-cli 5411f11, docs/cli/gemini-md.md")),
    ("jenkinsfile", Source::Cited("jenkins-infra/jenkins.io 2973826, content/doc/book/pipeline/multibranch.adoc")),
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
    ("mise.local.toml", Source::Documented("https://mise.jdx.dev/configuration.html")),
    ("mise.toml", Source::Documented("https://mise.jdx.dev/configuration.html")),
    ("opencode.json", Source::Documented("https://opencode.ai/docs/config")),
    ("opencode.jsonc", Source::Documented("https://opencode.ai/docs/config")),
    ("qwen.md", Source::Cited("QwenLM/qwen-code db05195, docs/users/configuration/settings.md")),
    ("rep.yaml", Source::Cited("docs/reference/settings.md of this repository")),
    ("rust-toolchain", Source::Documented("https://github.com/Mu-L/rustup/pull/15/files")),
    ("rust-toolchain.toml", Source::Documented("https://rust-lang.github.io/rustup/overrides.html")),
    ("warp.md", Source::Documented("https://docs.warp.dev/agents/capabilities/rules.md")),
];

/// Extensions of files that editors open as settings, whatever their name.
pub(super) const PROTECTED_ENDINGS: &[(&str, NameOrigin)] = &[(
    ".code-workspace",
    Source::Cited("microsoft/vscode-docs 742b935, docs/editing/workspaces/multi-root-workspaces.md"),
)];

/// Directories whose whole content is protected, and files with the same names.
pub(super) const PROTECTED_FOLDERS: &[(&str, NameOrigin)] = &[
    (".agent", Source::Cited("autohandai/code-cli 122c3a3, docs/agent-skills.md")),
    (".agent-packages", Source::Cited("UAAPS/AAM, chapter 4, discovery")),
    (".agents", Source::Documented("https://fast-agent.ai/agents/skills/")),
    (".agentskills", Source::Cited("generalaction/emdash documentation, features/skills")),
    (
        ".aiassistant",
        Source::Documented(
            "https://dev.to/yigit-konur/complete-guide-how-to-set-ai-coding-rules-for-jetbrains-ai-assistant-pycharm-ai-webstorm-ai-48id",
        ),
    ),
    (
        ".amazonq",
        Source::Documented("https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/context-project-rules.html"),
    ),
    (".amp", Source::Documented("https://www.developersdigest.tech/reference/amp/config-files")),
    (".assistant", Source::Documented("https://docs.databricks.com/aws/en/genie-code/skills")),
    (".augment", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".autoenv", Source::Cited("hyperupcall/autoenv b030c19, README.md, whose `activate.sh` shells source")),
    (".autohand", Source::Cited("autohandai/code-cli 122c3a3, docs/agent-skills.md")),
    (".bashrc.d", Source::Documented("https://hotsechu.com/blog/page/2")),
    (".buildkite", Source::Cited("buildkite/docs 35cf029, pages/agent/hooks.md")),
    (
        ".builds",
        Source::Documented("https://git.sr.ht/~sircmpwn/sr.ht-docs/commit/54a3ada3205acd4ca2638c5230c19a4cec1d9d25"),
    ),
    (
        ".circleci",
        Source::Cited("circleci/circleci-docs 9734a14, docs/guides/modules/getting-started/pages/create-project.adoc"),
    ),
    (".claude", Source::Documented("https://fast-agent.ai/agents/skills/")),
    (".cline", Source::Cited("cline/cline 21cb8d2, docs/customization/skills.mdx")),
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
    (".fleet", Source::Documented("https://jetbrains.com/help/fleet/run-configs.html")),
    (".gemini", Source::Cited("Gemini CLI 0.61.0, run")),
    (".githooks", Source::Cited("gabyx/Githooks 4d79e56, README.md")),
    (".gnupg", Source::Manual("gpg(1)")),
    (".goose", Source::Cited("block/goose, documentation/docs/guides/context-engineering/using-skills.md")),
    (".helix", Source::Cited("helix-editor/helix 079a789, book/src/editor.md")),
    (".hermes", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".husky", Source::Cited("typicode/husky 0692639, docs/get-started.md")),
    (
        ".idea",
        Source::Documented("https://www.jetbrains.com/help/idea/2017.1/managing-projects-under-version-control.html"),
    ),
    (".junie", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".kilocode", Source::Cited("Kilo-Org/kilocode ff74e2e, packages/kilo-docs/pages/customize/custom-rules.md")),
    (".kiro", Source::Cited("Kiro documentation, skills; npm skills 1.7.4")),
    (".lefthook", Source::Documented("https://lefthook.dev/configuration")),
    (".lefthook-local", Source::Documented("https://lefthook.dev/configuration/source_dir_local.html")),
    (".letta", Source::Cited("letta-ai/letta-code 04f7dd4, src/agent/skills.ts")),
    (".mux", Source::Cited("coder/mux 05fc884, docs/agents/agent-skills.mdx")),
    (".mvn", Source::Cited("apache/maven-site edb18cd, content/markdown/configure.md")),
    (".nanobot", Source::Cited("HKUDS/nanobot, skills/clawhub/SKILL.md and docs/configuration.md")),
    (".nvm", Source::Cited("nvm-sh/nvm b17550a, README.md")),
    (".oh-my-zsh", Source::Cited("ohmyzsh/ohmyzsh 830a5bc, README.md")),
    (".ona", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".openclaw", Source::Documented("https://docs.openclaw.ai/tools/skills")),
    (".opencode", Source::Cited("OpenCode 1.18.33, run")),
    (".openhands", Source::Documented("https://docs.openhands.dev/overview/skills")),
    (".pi", Source::Cited("badlogic/pi-mono 11c1627, packages/coding-agent/docs/skills.md")),
    (".qwen", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".roo", Source::Cited("RooCodeInc/Roo-Code-Docs 5b75289, docs/features/skills.mdx")),
    (".rovodev", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (".semaphore", Source::Cited("semaphoreio/semaphore 2bf23f5, docs/docs/reference/api.md")),
    (".skills", Source::Cited("letta-ai/letta-code 04f7dd4, src/agent/skills.ts")),
    (".ssh", Source::Manual("ssh(1)")),
    (".tabnine", Source::Cited("npm skills 1.7.4, docs/agents.md")),
    (
        ".teamcity",
        Source::Documented("https://www.jetbrains.com/help/teamcity/storing-project-settings-in-version-control.html"),
    ),
    (".trae", Source::Cited("npm skills 1.7.4, docs/agents.md; TRAE documentation, skills")),
    (".vibe", Source::Cited("mistralai/mistral-vibe 0088bc8, README.md, skill discovery")),
    (".vim", Source::Documented("https://vimhelp.org/options.txt.html")),
    (
        ".vs",
        Source::Documented(
            "https://docs.microsoft.com/en-us/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio?view=vs-2017",
        ),
    ),
    (".vscode", Source::Cited("microsoft/vscode-docs 742b935, docs/configure/settings.md")),
    (".vscode-server", Source::Documented("https://github.com/GlueOps/codespaces/pull/521.patch")),
    (".vtcode", Source::Cited("vinhnx/VTCode 0404333, docs/skills/SKILLS_GUIDE.md")),
    (".windsurf", Source::Cited("Windsurf documentation, cascade skills; Devin product guide, skills")),
    (".woodpecker", Source::Cited("woodpecker-ci/woodpecker a4cb541, docs/docs/20-usage/25-workflows.md")),
    (".zed", Source::Cited("zed-industries/zed 7eec892, docs/src/tasks.md")),
];

/// Protected entries of directories that also contain unprotected ones.
pub(super) const PROTECTED_PAIRS: &[([&str; 2], NameOrigin)] = &[
    ([".ai", "skills"], Source::Cited("laravel/docs 149cdb5, boost.md, custom skills")),
    (
        [".aws", "config"],
        Source::Documented("https://docs.aws.amazon.com/cli/v1/userguide/cli-configure-sourcing-external.html"),
    ),
    (
        [".aws", "credentials"],
        Source::Documented(
            "https://docs.amazonaws.cn/en_us/toolkit-for-visual-studio/latest/user-guide/external-credentials.md",
        ),
    ),
    ([".bundle", "config"], Source::Manual("bundle-config(1)")),
    ([".cargo", "bin"], Source::Cited("rust-lang/rustup 0878429, doc/user-guide/src/concepts/index.md")),
    ([".cargo", "config"], Source::Documented("https://doc.rust-lang.org/cargo/reference/config.html")),
    ([".cargo", "config.toml"], Source::Documented("https://doc.rust-lang.org/cargo/reference/config.html")),
    (
        [".cargo", "env"],
        Source::Cited("rust-lang/rustup 0878429, doc/user-guide/src/installation/already-installed-rust.md"),
    ),
    ([".config", "agents"], Source::Cited("Amp manual, agent skills")),
    ([".config", "amp"], Source::Cited("Amp manual, agent skills")),
    (
        [".config", "autostart"],
        Source::Documented("https://specifications.freedesktop.org/autostart-spec/latest/ar01s02.html"),
    ),
    ([".config", "code"], Source::Cited("microsoft/vscode-docs 742b935, docs/configure/settings.md")),
    ([".config", "crush"], Source::Cited("npm skills 1.7.4, docs/agents.md")),
    ([".config", "environment.d"], Source::Manual("environment.d(5)")),
    ([".config", "fish"], Source::Documented("https://fishshell.com/docs/current/index.html")),
    ([".config", "git"], Source::Manual("git-config(1)")),
    (
        [".config", "github-copilot"],
        Source::Cited(
            "github/docs 6032175, content/copilot/how-tos/configure-custom-instructions-in-your-ide/add-repository-instructions-in-your-ide.md",
        ),
    ),
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
    ([".config", "mise.toml"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    ([".config", "nvim"], Source::Manual("nvim(1)")),
    ([".config", "opencode"], Source::Cited("npm skills 1.7.4, docs/agents.md")),
    ([".config", "pip"], Source::Documented("https://pip.pypa.io/en/stable/topics/configuration/")),
    ([".config", "systemd"], Source::Manual("systemd.unit(5)")),
    ([".config", "zed"], Source::Cited("zed-industries/zed 7eec892, docs/src/configuring-languages.md")),
    ([".config", "zsh"], Source::Documented("https://mikewebb.tech/articles/2026/2026-03-26-zsh-xdg-standard/")),
    ([".docker", "cli-plugins"], Source::Cited("docker/cli 28f7560, cli-plugins/manager/manager_unix.go")),
    ([".docker", "config.json"], Source::Cited("docker/cli 28f7560, docs/reference/commandline/docker.md")),
    ([".forgejo", "workflows"], Source::Documented("https://forgejo.org/docs/latest/user/actions/overview")),
    ([".gitea", "workflows"], Source::Cited("go-gitea/gitea 1fa6465, custom/conf/app.example.ini")),
    (
        [".github", "actions"],
        Source::Cited(
            "github/docs 6032175, content/actions/how-tos/create-and-publish-actions/manage-custom-actions.md",
        ),
    ),
    ([".github", "agents"], Source::Cited("microsoft/vscode-docs 742b935, docs/agent-customization/custom-agents.md")),
    ([".github", "chatmodes"], Source::Cited("microsoft/vscode-docs 742b935, release-notes/v1_106.md")),
    (
        [".github", "copilot-instructions.md"],
        Source::Documented(
            "https://docs.github.com/en/copilot/how-tos/configure-custom-instructions-in-your-ide/add-repository-instructions-in-your-ide",
        ),
    ),
    (
        [".github", "dependabot.yaml"],
        Source::Cited(
            "github/docs 6032175, content/code-security/concepts/supply-chain-security/about-the-dependabot-yml-file.md",
        ),
    ),
    (
        [".github", "dependabot.yml"],
        Source::Cited(
            "github/docs 6032175, content/code-security/concepts/supply-chain-security/about-the-dependabot-yml-file.md",
        ),
    ),
    ([".github", "hooks"], Source::Cited("github/docs 6032175, content/copilot/concepts/agents/hooks.md")),
    (
        [".github", "instructions"],
        Source::Documented(
            "https://docs.github.com/en/copilot/how-tos/configure-custom-instructions-in-your-ide/add-repository-instructions-in-your-ide",
        ),
    ),
    ([".github", "prompts"], Source::Cited("microsoft/vscode-docs 742b935, docs/agent-customization/prompt-files.md")),
    ([".github", "skills"], Source::Cited("GitHub Copilot CLI 1.0.102, run")),
    ([".github", "workflows"], Source::Cited("github/docs 6032175, content/actions/get-started/quickstart.md")),
    ([".gradle", "init.d"], Source::Documented("https://docs.gradle.org/userguide/init_scripts.html")),
    ([".kube", "config"], Source::Manual("gcloud_container_clusters_get-credentials(1)")),
    ([".local", "bin"], Source::Manual("file-hierarchy(7)")),
    ([".m2", "settings.xml"], Source::Documented("https://maven.apache.org/settings.html")),
    ([".mise", "conf.d"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    ([".mise", "config.local.toml"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    ([".mise", "config.toml"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    ([".pip", "pip.conf"], Source::Documented("https://pip.pypa.io/en/stable/topics/configuration/")),
    (
        [".snowflake", "cortex"],
        Source::Documented(
            "https://docs.snowflake.com/user-guide/cortex-code/cortex-code-snowsight/skills-and-plugins",
        ),
    ),
    ([".subversion", "config"], Source::Cited("Subversion 1.14.2, svn_config.h, svn_config_ensure")),
    ([".venv", "bin"], Source::Cited("microsoft/vscode-docs 742b935, docs/python/environments.md")),
    ([".yarn", "releases"], Source::Documented("https://github.com/oclif/oclif/pull/1229")),
    (["mise", "config.local.toml"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    (["mise", "config.toml"], Source::Documented("https://mise.jdx.dev/configuration.html")),
    (["venv", "bin"], Source::Cited("microsoft/vscode-docs 742b935, docs/python/environments.md")),
];

/// Whether a list has a name.
pub(super) fn has_name<N: PartialEq>(list: &[(N, NameOrigin)], name: &N) -> bool {
    list.iter().any(|(known, _)| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            };
            assert!(is_sound, "{source:?}");
        }
    }
}
