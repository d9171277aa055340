//! `rep install` from git repositories, which a git server offers.

use std::os::unix::fs::symlink;

use rep_test_support::{
    GitServer, ProgramRun, ScratchFolder, TestRepository, TestResponse, TestServer, build_response,
    is_program_installed,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{json as parsed, rep, run};

pub(super) fn skill(name: &str, word: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Fills {word} forms. Use when the user brings a {word} form.\n---\n\n# {name}\n\n1. Fill the form.\n"
    )
}

/// A project, and a repository of skills at a server.
pub(super) struct GitWorld {
    pub(super) scratch: ScratchFolder,
    pub(super) repository: TestRepository,
    pub(super) server: GitServer,
}

impl GitWorld {
    /// Creates a repository with two skills and the tag `v1.0.0`.
    pub(super) fn new(login: Option<&str>) -> Self {
        let scratch = ScratchFolder::new();
        let root = scratch.work_folder().join("srv");
        let repository = TestRepository::create(&root.join("skills"));
        repository.write_file("README.md", "skills\n");
        repository.write_file("tools/pdf/SKILL.md", skill("pdf", "PDF"));
        repository.write_file("tools/pdf/scripts/fill.sh", "#!/bin/sh\necho filled\n");
        set_executable(&repository, "tools/pdf/scripts/fill.sh");
        repository.write_file("tools/docx/SKILL.md", skill("docx", "DOCX"));
        repository.commit_all("first");
        repository.run_git(&["tag", "v1.0.0"]);
        let server = GitServer::start(&root, login);
        std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("the folder can be made");
        Self { scratch, repository, server }
    }

    pub(super) fn url(&self) -> String {
        self.server.url("skills")
    }

    pub(super) fn run(&self, words: &[&str]) -> ProgramRun {
        let (command, rest) = words.split_first().expect("there is a command");
        run(&self.scratch, &[&[*command, "--project", "project"], rest].concat())
    }

    pub(super) fn lock(&self) -> Value {
        serde_json::from_str(&self.scratch.read_file("project/skills-lock.json")).expect("the lock file is JSON")
    }

    pub(super) fn installed(&self, path: &str) -> std::path::PathBuf {
        self.scratch.work_folder().join("project/.agents/skills").join(path)
    }
}

#[test]
fn a_terminal_shows_what_is_fetched() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let url = world.url();
    let words = ["install", &url, "--project", "project", "--yes", "--host", "codex"];
    let (code, seen) = crate::policy::typed(&world.scratch, &words, "fetching http", b"");
    assert!(code == 0 && seen.contains("fetching http"), "{seen}");
}

#[test]
fn a_terminal_shows_how_many_bytes_arrived() {
    let text = skill("pdf", "PDF");
    let digest: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    let index = json!({
        "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
        "skills": [{ "name": "pdf", "type": "skill-md", "description": "Fills PDF forms.", "url": "/pdf/SKILL.md",
                     "digest": format!("sha256:{digest}") }],
    });
    let (go, word) = std::sync::mpsc::channel();
    let word = std::sync::Mutex::new(Some(word));
    let content = text.clone();
    let server = TestServer::start(move |asked, _| {
        if !asked.line.contains("/pdf/SKILL.md") {
            return build_response("200 OK", &["Connection: close"], &index.to_string());
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
        let (first, rest) = content.split_at(20);
        let word = word.lock().expect("nobody panicked").take().expect("it is asked for once");
        TestResponse::Held([head.as_bytes(), first.as_bytes()].concat(), word, rest.as_bytes().to_vec())
    });
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("the folder can be made");
    let url = server.url();
    let words = ["install", &url, "--project", "project", "--yes", "--host", "codex"];
    let awaited = format!("20 B of {} B", text.len());
    let (code, seen, has_appeared) =
        crate::policy::watch(&scratch, &words, &awaited, |_| go.send(()).expect("it waits"));
    assert!(code == 0 && has_appeared, "{seen}");
}

fn set_executable(repository: &TestRepository, path: &str) {
    let file = repository.folder().join(path);
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("the mode can be set");
}

fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

#[test]
fn skills_of_a_repository_are_installed_with_their_commit() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let done = world.run(&["install", &format!("{}#v1.0.0", world.url()), "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(mode(&world.installed("pdf/scripts/fill.sh")), 0o755);
    assert_eq!(mode(&world.installed("pdf/SKILL.md")), 0o644);
    let commit = world.repository.run_git(&["rev-parse", "v1.0.0"]).trim().to_owned();
    let entry = world.lock()["skills"]["pdf"].clone();
    let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "rep"]);
    assert_eq!(entry["source"], json!(world.url()));
    assert_eq!(entry["sourceUrl"], json!(world.url()));
    assert_eq!((&entry["ref"], &entry["sourceType"]), (&json!("v1.0.0"), &json!("git")));
    assert_eq!((&entry["skillPath"], &entry["rep"]["commit"]), (&json!("tools/pdf/SKILL.md"), &json!(commit)));
    assert_eq!(world.run(&["verify"]).code, 0);
    assert_eq!(world.run(&["outdated"]).code, 0);
}

#[test]
fn one_skill_is_taken_by_name_by_directory_and_at_any_commit() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let first = world.repository.run_git(&["rev-parse", "HEAD"]).trim().to_owned();
    world.repository.write_file("tools/pdf/SKILL.md", skill("pdf", "newer"));
    world.repository.commit_all("second");
    world.repository.run_git(&["branch", "feature/x"]);
    let one = world.run(&["install", &format!("{}@pdf", world.url()), "--json"]);
    assert_eq!(parsed(&one)["skills"].as_array().map(Vec::len), Some(1), "{one:?}");
    assert!(world.scratch.read_file("project/.agents/skills/pdf/SKILL.md").contains("newer"));
    // An old commit by its full id, and by its first digits.
    for commit in [first.as_str(), &first[..8]] {
        let old = world.run(&["install", &format!("{}#{commit}@pdf", world.url()), "--force"]);
        assert_eq!(old.code, 0, "{old:?}");
        assert!(world.scratch.read_file("project/.agents/skills/pdf/SKILL.md").contains("PDF"), "{commit}");
        assert_eq!(world.lock()["skills"]["pdf"]["rep"]["commit"], json!(first));
        assert_eq!(world.run(&["install", &format!("{}@pdf", world.url())]).code, 0);
    }
    // The address of a web page: the reference has a slash, and the path is a directory of the repository.
    let page = format!("http://127.0.0.1:{}/group/sub/-/tree/feature/x/tools/docx", world.server.port);
    let root = world.scratch.work_folder().join("srv/group");
    std::fs::create_dir_all(&root).unwrap();
    symlink(world.repository.folder(), root.join("sub")).unwrap();
    let paged = world.run(&["install", &page]);
    assert_eq!(paged.code, 0, "{paged:?}");
    let entry = &world.lock()["skills"]["docx"];
    assert_eq!((&entry["sourceType"], &entry["ref"]), (&json!("gitlab"), &json!("feature/x")));
    assert_eq!(entry["skillPath"], "tools/docx/SKILL.md");
    for (source, code) in [
        (format!("{}#nothing", world.url()), "NO_REFERENCE"),
        (format!("{}@nothing", world.url()), "SKILL_NOT_FOUND"),
        (world.server.url("nothing"), "UNKNOWN_SOURCE"),
    ] {
        let missing = world.run(&["install", &source, "--json"]);
        assert_eq!((missing.code, &parsed(&missing)["error"]["code"]), (2, &json!(code)), "{missing:?}");
    }
}

/// Every way to write an address, over the mirrors of the settings and a replacement of ssh that reaches this machine.
#[test]
fn every_form_of_an_address_is_installed_and_restored() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let root = world.scratch.work_folder().join("srv");
    let first = world.repository.run_git(&["rev-parse", "HEAD"]).trim().to_owned();
    world.repository.run_git(&["branch", "feature/x"]);
    std::fs::create_dir_all(root.join("acme")).unwrap();
    symlink(world.repository.folder(), root.join("acme/skills")).unwrap();
    let server = format!("http://127.0.0.1:{}/", world.server.port);
    let mirrors = ["github.com", "gitlab.com", "git.example.org"];
    let mirrors: Vec<String> = mirrors.iter().map(|host| format!("'https://{host}/': '{server}'")).collect();
    let home = world.scratch.work_folder().with_file_name("home");
    std::fs::create_dir_all(home.join(".config/repertoire")).unwrap();
    let settings = format!("sources: {{mirrors: {{{}}}}}\n", mirrors.join(", "));
    std::fs::write(home.join(".config/repertoire/rep.yaml"), settings).unwrap();
    // What ssh would do: run the command of git, here on this machine. Hosts and options come first.
    let ssh = world.scratch.write_file("ssh.sh", "#!/bin/sh\nfor last; do :; done\ncd \"$ROOT\" || exit 1\nlast=$(echo \"$last\" | sed \"s#'/#'#\")\neval \"$last\"\n");
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let environment =
        [("GIT_SSH_COMMAND", ssh.to_str().unwrap()), ("GIT_SSH_VARIANT", "ssh"), ("ROOT", root.to_str().unwrap())];
    let both: &[&str] = &["docx", "pdf"];
    let forms: Vec<(String, &str, &[&str])> = vec![
        ("acme/skills".to_owned(), "github", both),
        ("acme/skills/tools/pdf".to_owned(), "github", &["pdf"]),
        ("acme/skills@docx".to_owned(), "github", &["docx"]),
        ("acme/skills/tools@pdf#v1.0.0".to_owned(), "github", &["pdf"]),
        (format!("github:acme/skills#{first}@pdf"), "github", &["pdf"]),
        ("gitlab:acme/skills#v1.0.0".to_owned(), "gitlab", both),
        ("https://github.com/acme/skills".to_owned(), "github", both),
        ("https://github.com/acme/skills/tree/main/tools/docx".to_owned(), "github", &["docx"]),
        ("https://github.com/acme/skills/tree/feature/x/tools/docx".to_owned(), "github", &["docx"]),
        ("https://github.com/acme/skills/blob/main/tools/pdf/SKILL.md".to_owned(), "github", &["pdf"]),
        ("https://gitlab.com/acme/skills/-/tree/v1.0.0/tools".to_owned(), "gitlab", both),
        ("https://git.example.org/acme/skills.git#feature/x".to_owned(), "git", both),
        ("git@git.example.org:acme/skills.git".to_owned(), "git", both),
        ("git@git.example.org:acme/skills.git#v1.0.0@pdf".to_owned(), "git", &["pdf"]),
        ("ssh://git@git.example.org:2222/acme/skills/.git".to_owned(), "git", both),
    ];
    for (source, kind, names) in forms {
        let project = world.scratch.work_folder().join("project");
        let at = |words: &[&str]| {
            let words = [words, &["--project", "project", "--json"]].concat();
            world.scratch.run_with_environment(rep(), &words, &environment)
        };
        let installed = at(&["install", &source, "--host", "codex"]);
        assert_eq!(installed.code, 0, "{source}: {installed:?}");
        let lock = world.lock();
        let found: Vec<&String> = lock["skills"].as_object().unwrap().keys().collect();
        assert_eq!(found, names, "{source}");
        let entry = &lock["skills"][names[0]];
        assert_eq!((&entry["sourceType"], &entry["rep"]["commit"]), (&json!(kind), &json!(first)), "{source}");
        // The lock file names the address as it was meant, and is enough to restore the skill without the cache.
        assert!(!lock.to_string().contains("127.0.0.1"), "{source}: {lock}");
        std::fs::remove_dir_all(project.join(".agents")).unwrap();
        std::fs::remove_dir_all(home.join(".cache")).unwrap();
        let synced = at(&["sync"]);
        assert_eq!(synced.code, 0, "{source}: {synced:?}");
        assert_eq!(at(&["verify"]).code, 0, "{source}");
        std::fs::remove_dir_all(project.join(".agents")).unwrap();
        std::fs::remove_file(project.join("skills-lock.json")).unwrap();
    }
}

#[test]
fn private_repositories_work_with_what_git_stores_and_nothing_is_asked() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(Some("me:word"));
    let refused = world.run(&["install", &world.url(), "--json"]);
    assert_eq!((refused.code, &parsed(&refused)["error"]["code"]), (3, &json!("UNAUTHORIZED")), "{refused:?}");
    assert!(refused.stderr.contains("credential helper"), "{refused:?}");
    let home = world.scratch.work_folder().with_file_name("home");
    std::fs::write(home.join(".gitconfig"), "[credential]\n\thelper = store\n").unwrap();
    std::fs::write(home.join(".git-credentials"), format!("http://me:word@127.0.0.1:{}\n", world.server.port)).unwrap();
    assert_eq!(world.run(&["install", &world.url()]).code, 0);
    let text = world.scratch.read_file("project/skills-lock.json");
    assert!(!text.contains("word"), "{text}");
    let told = world.run(&["install", &format!("http://me:word@127.0.0.1:{}/skills.git", world.server.port)]);
    assert!(told.code == 2 && told.stderr.contains("password"), "{told:?}");
}

/// A repository cannot make us run a hook, a filter or a helper, fetch a submodule or follow a link out of a skill.
#[test]
fn nothing_of_a_repository_is_executed_or_followed() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let marker = world.scratch.work_folder().join("executed");
    world.repository.write_file(".gitattributes", "*.md filter=evil export-ignore\n*.sh ident\n");
    world.repository.write_file("tools/pdf/again.md", "");
    std::fs::remove_file(world.repository.folder().join("tools/pdf/again.md")).unwrap();
    symlink("SKILL.md", world.repository.folder().join("tools/pdf/again.md")).unwrap();
    world.repository.write_file("tools/leaky/SKILL.md", skill("leaky", "PDF"));
    symlink("../../../../etc/passwd", world.repository.folder().join("tools/leaky/notes.txt")).unwrap();
    world.repository.commit_all("links and filters");
    let id = world.repository.run_git(&["rev-parse", "HEAD"]).trim().to_owned();
    world.repository.write_file("tools/nested/SKILL.md", skill("nested", "PDF"));
    world.repository.run_git(&["add", "--all"]);
    world.repository.run_git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},tools/nested/sub")]);
    world
        .repository
        .write_file(".gitmodules", "[submodule \"x\"]\n\tpath = tools/nested/sub\n\turl = ext::touch executed\n");
    world.repository.run_git(&["add", ".gitmodules"]);
    world.repository.run_git(&["commit", "--quiet", "-m", "a submodule"]);
    let home = world.scratch.work_folder().with_file_name("home");
    let evil = format!(
        "[filter \"evil\"]\n\tsmudge = touch {0}\n\tclean = touch {0}\n[core]\n\thooksPath = {1}\n",
        marker.display(),
        home.join("hooks").display()
    );
    std::fs::create_dir_all(home.join("hooks")).unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let file = home.join("hooks").join(hook);
        std::fs::write(&file, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    std::fs::write(home.join(".gitconfig"), evil).unwrap();
    let done = world.run(&["install", &world.url()]);
    assert_eq!(done.code, 1, "{done:?}");
    for words in ["skipped `leaky`", "skipped `nested`", "submodule"] {
        assert!(done.stderr.contains(words), "{words}: {done:?}");
    }
    let inside = world.scratch.read_file("project/.agents/skills/pdf/again.md");
    assert_eq!(inside, skill("pdf", "PDF"), "a link to a file of the same skill is that file");
    assert!(!world.installed("leaky").exists() && !world.installed("nested").exists());
    assert!(!marker.exists(), "something was executed");
    let alone = world.run(&["install", &format!("{}@leaky", world.url()), "--force"]);
    assert!(alone.code == 2 && alone.stderr.contains("link"), "{alone:?}");
    // The cache is a bare repository: nothing was checked out.
    let cache = home.join(".cache/repertoire/packages/git");
    assert!(!walk(&cache).iter().any(|name| name.ends_with("SKILL.md")));
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        names.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            names.extend(walk(&entry.path()));
        }
    }
    names
}

#[test]
fn addresses_that_are_options_programs_or_files_are_refused() {
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("the folder can be made");
    let repository = TestRepository::create(&scratch.work_folder().join("srv/skills"));
    repository.write_file("pdf/SKILL.md", skill("pdf", "PDF"));
    repository.commit_all("first");
    let file = format!("file://{}", repository.folder().display());
    for source in [
        "--upload-pack=touch executed",
        "ext::sh -c touch% executed",
        &file,
        "git://example.org/skills.git",
        "http://example.org/skills.git",
        "git@-oProxyCommand=touch executed:skills",
        "ssh://-oProxyCommand=touch/skills.git",
        "acme/skills#--upload-pack=touch",
        "acme/skills#a:refs/heads/b",
    ] {
        let refused = run(&scratch, &["install", "--project", "project", "--json", "--", source]);
        assert_eq!(refused.code, 2, "{source}: {refused:?}");
        assert_eq!(parsed(&refused)["error"]["code"], "REFUSED_SOURCE", "{source}");
    }
    assert!(!scratch.work_folder().join("executed").exists());
    assert!(!scratch.work_folder().join("project/.agents").exists());
    assert!(rep().exists());
}

#[test]
fn a_branch_that_moved_is_outdated_and_other_changes_are_not() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    assert_eq!(world.run(&["install", &world.url()]).code, 0);
    world.repository.write_file("README.md", "other words\n");
    world.repository.commit_all("not about a skill");
    assert_eq!(world.run(&["outdated"]).code, 0, "the files of the skills are the same");
    world.repository.write_file("tools/pdf/SKILL.md", skill("pdf", "newer"));
    world.repository.run_git(&["rm", "-r", "--quiet", "tools/docx"]);
    world.repository.commit_all("a newer version");
    let told = world.run(&["outdated", "--json"]);
    let states = parsed(&told);
    assert_eq!((told.code, &states["skills"][0]["state"]), (1, &json!("gone")), "{told:?}");
    assert_eq!(states["skills"][1]["state"], "outdated", "{told:?}");
    assert!(states["skills"][1]["why"].as_str().unwrap().contains(" → "), "{told:?}");
}

#[test]
fn several_sources_are_installed_together() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    world.scratch.write_file("own/letters/SKILL.md", skill("letters", "letter"));
    let both = world.run(&["install", &world.url(), "own", "--skill", "pdf", "--skill", "letters", "--json"]);
    assert_eq!(both.code, 0, "{both:?}");
    assert_eq!(parsed(&both)["skills"].as_array().map(Vec::len), Some(2), "{both:?}");
    world.scratch.write_file("own/pdf/SKILL.md", skill("pdf", "another"));
    let twice = world.run(&["install", &world.url(), "own", "--force", "--json"]);
    assert_eq!((twice.code, &parsed(&twice)["error"]["code"]), (2, &json!("AMBIGUOUS")), "{twice:?}");
}
