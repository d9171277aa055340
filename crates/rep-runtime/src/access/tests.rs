use std::os::unix::fs::symlink;

use super::*;

struct Place {
    scratch: tempfile::TempDir,
    permissions: RunPermissions,
}

impl Place {
    fn new(read: &[&str], write: &[&str]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        for folder in ["work/docs", "work/secret", "work/skill/scripts", "outside"] {
            fs::create_dir_all(scratch.path().join(folder)).unwrap();
        }
        for file in ["work/docs/a.pdf", "work/secret/key.txt", "work/skill/SKILL.md", "outside/b.pdf"] {
            drop(fs::File::create(scratch.path().join(file)).unwrap());
        }
        let globs = |texts: &[&str]| texts.iter().map(|text| Glob::parse(text).unwrap()).collect();
        Self {
            scratch,
            permissions: RunPermissions { read: globs(read), write: globs(write), ..RunPermissions::default() },
        }
    }

    fn link(&self, target: &str, name: &str) {
        symlink(self.scratch.path().join(target), self.scratch.path().join("work").join(name)).unwrap();
    }

    fn ask(&self, request: &AccessRequest) -> AccessVerdict {
        let (workspace, folder) = (self.scratch.path().join("work"), self.scratch.path().join("work/skill"));
        AccessContext { permissions: &self.permissions, workspace: &workspace, folder: &folder }.check_request(request)
    }

    fn may_read(&self, path: &str) -> bool {
        self.ask(&AccessRequest::Read(path.to_owned())).is_allowed
    }

    fn may_write(&self, path: &str) -> bool {
        self.ask(&AccessRequest::Write(path.to_owned())).is_allowed
    }
}

#[test]
fn links_are_resolved_before_they_are_matched() {
    let place = Place::new(&["docs/**", "own.pdf"], &["docs/**"]);
    assert!(place.may_read("docs/a.pdf"));
    place.link("work/secret/key.txt", "docs/key.pdf");
    place.link("outside", "docs/out");
    place.link("work/docs/a.pdf", "docs/same.pdf");
    place.link("work/docs", "other");
    place.link("work/nothing", "docs/dangling");
    place.link("work/docs/loop", "docs/loop");
    // A link within the grant is allowed. A link that leaves the grant or the workspace, dangles or refers to
    // itself is not.
    assert!(place.may_read("docs/same.pdf"));
    for path in ["docs/key.pdf", "docs/out/b.pdf", "docs/out/new.pdf", "docs/dangling", "docs/loop", "docs/loop/x"] {
        assert!(!place.may_read(path) && !place.may_write(path), "{path}");
    }
    // A path that matches only through an undeclared link is not visible in a run either.
    assert!(!place.may_read("other/a.pdf"));
    assert!(place.may_read("docs/new/deep/er.pdf") && place.may_write("docs/new/deep/er.pdf"));
}

#[test]
fn what_leads_out_is_refused_before_looking() {
    let place = Place::new(&["**"], &["**"]);
    for path in ["../outside/b.pdf", "docs/../../outside/b.pdf", "/etc/passwd", "C:\\x", "", "a\0b"] {
        assert!(!place.may_read(path), "{path:?}");
        assert!(!place.may_write(path), "{path:?}");
    }
    for workspace in [".", "docs/.."] {
        assert!(place.may_read(workspace), "listing {workspace:?}");
        assert!(!place.may_write(workspace), "{workspace:?}");
        assert!(!Place::new(&["docs/**"], &["**"]).may_read(workspace), "{workspace:?}");
    }
    let absolute = place.scratch.path().join("work/docs/a.pdf");
    assert!(place.may_read(absolute.to_str().unwrap()));
    assert!(!place.may_read(place.scratch.path().join("outside/b.pdf").to_str().unwrap()));
}

#[test]
fn a_skill_reads_itself_and_never_changes_itself() {
    let place = Place::new(&[], &["**"]);
    let own = place.scratch.path().join("work/skill/SKILL.md");
    assert!(place.may_read("skill/SKILL.md") && place.may_read(own.to_str().unwrap()));
    assert!(!place.may_write("skill/SKILL.md") && !place.may_write("skill/new.md"));
    // Write permission does not imply read permission.
    assert!(place.may_write("docs/a.pdf") && !place.may_read("docs/a.pdf"));
    place.link("work/skill", "alias");
    assert!(!place.may_write("alias/SKILL.md"));
}

#[test]
fn hosts_fit_by_name_and_port() {
    let mut place = Place::new(&[], &[]);
    let rules = ["api.example.org", "*.foo.dev:8443", "localhost:11434"];
    place.permissions.outbound = rules.iter().map(|rule| HostRule::parse(rule).unwrap()).collect();
    for (host, expected) in [
        ("api.example.org", true),
        ("API.example.org.:80", true),
        ("api.example.org:8080", false),
        ("x.api.example.org", false),
        ("a.foo.dev:8443", true),
        ("a.b.foo.dev:8443", true),
        ("foo.dev:8443", false),
        ("evilfoo.dev:8443", false),
        ("a.foo.dev", false),
        ("*.foo.dev:8443", false),
        ("localhost:11434", true),
        ("", false),
        ("a b", false),
    ] {
        assert_eq!(place.ask(&AccessRequest::Connect(host.to_owned())).is_allowed, expected, "{host}");
    }
    assert!(!place.ask(&AccessRequest::Spawn).is_allowed);
    place.permissions.allow_subprocess = true;
    assert!(place.ask(&AccessRequest::Spawn).is_allowed);
}

#[test]
fn what_others_trust_is_not_written_whatever_is_declared() {
    let place = Place::new(&[], &["**"]);
    for path in [".git/hooks/pre-commit", ".envrc", "docs/.bashrc"] {
        let verdict = place.ask(&AccessRequest::Write(path.to_owned()));
        assert_eq!((verdict.is_allowed, verdict.by.as_str()), (false, "names that other programs trust"), "{path}");
    }
    assert!(place.may_write("docs/Makefile"));
}

#[test]
fn nothing_lies_in_a_file() {
    let place = Place::new(&["docs/**"], &["docs/**"]);
    assert!(place.may_read("docs/a.pdf") && !place.may_read("docs/a.pdf/x"));
    assert!(!place.may_write("docs/a.pdf/x"));
}

#[test]
fn a_host_without_a_port_is_asked_for_on_443() {
    let mut place = Place::new(&[], &[]);
    place.permissions.outbound = vec![HostRule::parse("api.example.org:443").unwrap()];
    let verdict = place.ask(&AccessRequest::Connect("api.example.org".to_owned()));
    assert!(verdict.is_allowed, "{verdict:?}");
    assert!(!place.ask(&AccessRequest::Connect("api.example.org:80".to_owned())).is_allowed);
}

#[test]
fn a_refusal_says_whether_anything_is_declared_at_all() {
    let mut place = Place::new(&[], &["docs/**"]);
    let why = |place: &Place, request: AccessRequest| place.ask(&request).why;
    let (read, write) = (AccessRequest::Read("secret/x".into()), AccessRequest::Write("secret/x".into()));
    assert_eq!(why(&place, read), "`permissions.filesystem.read` declares nothing");
    assert_eq!(why(&place, write), "`secret/x` matches no pattern in `permissions.filesystem.write`");
    let connect = || AccessRequest::Connect("a.example.org:443".into());
    assert_eq!(why(&place, connect()), "`permissions.network.outbound` declares nothing");
    place.permissions.outbound = vec![HostRule::parse("b.example.org").unwrap()];
    assert_eq!(why(&place, connect()), "`a.example.org:443` matches nothing in `permissions.network.outbound`");
}

#[test]
fn directories_from_which_hosts_read_skills_are_protected() {
    use rep_library::hosts::{FolderBase, HOSTS};
    let protected = ProtectedPaths::for_workspace(Path::new("/work/project"), &[], None);
    let mut missing = Vec::new();
    for host in &HOSTS {
        let is_in_project =
            |base: &FolderBase| matches!(base, FolderBase::Here | FolderBase::Upward | FolderBase::Nested);
        for folder in host.folders.iter().filter(|folder| is_in_project(&folder.at)) {
            if !protected.is_protected(&format!("{}/x/SKILL.md", folder.path)) {
                missing.push(format!("{}: {}", host.id, folder.path));
            }
        }
    }
    assert!(missing.is_empty(), "add these to protected_paths/names.rs: {missing:#?}");
}
