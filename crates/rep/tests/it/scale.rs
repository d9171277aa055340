//! A library of 10,000 skills through the binary: what is said of it, and an index that outlives what happens to it.
#![expect(clippy::unwrap_used, reason = "all of this is a test, its helpers too")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rep_test_support::library::{Bodies, Library, Order, Planted, Shape};
use rep_test_support::{Run, Scratch};

use super::{GOOD, json, rep, run};

const SKILLS: usize = 10_000;

/// A scratch folder with a library in it.
struct Large {
    scratch: Scratch,
    library: Library,
}

impl Large {
    fn make(shape: Shape) -> Large {
        let scratch = Scratch::new();
        // Links are resolved in what is listed, so they are in what is expected.
        let folder = fs::canonicalize(scratch.work()).unwrap().join("lib");
        fs::create_dir(&folder).unwrap();
        let library = Library::make(&folder, Order { count: SKILLS, shape, bodies: Bodies::Short }).unwrap();
        Large { scratch, library }
    }

    fn run(&self, words: &[&str]) -> Run {
        let options = self.library.options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        run(&self.scratch, &[words, &options].concat())
    }

    /// Searches for what is planted, and says how many skills were read anew.
    fn read_anew(&self) -> usize {
        let found = self.run(&["search", Planted::PHRASE, "--limit", "1", "-v"]);
        assert!(found.code == 0 && found.stdout.contains(Planted::NAME), "{found:?}");
        let (_, count) = found.stderr.split_once(" searched, ").unwrap_or_else(|| panic!("{found:?}"));
        count.split(' ').next().unwrap().parse().unwrap()
    }

    fn cache(&self) -> PathBuf {
        self.scratch.work().join("../home/.cache/repertoire")
    }

    fn index(&self) -> PathBuf {
        self.cache().join("search.idx")
    }

    fn change(&self, name: &str, words: &str) {
        self.scratch
            .write(&format!("lib/{name}/SKILL.md"), GOOD.replace("name: pdf\n", &format!("name: {name}\n")) + words);
    }

    fn search(&self) -> Command {
        let mut command = Command::new(rep());
        command
            .args(["search", Planted::PHRASE, "--json"])
            .args(self.library.options())
            .current_dir(self.scratch.work())
            .env("HOME", self.scratch.work().join("../home"))
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

#[test]
fn ten_thousand_skills_are_listed_told_and_selected_as_they_were_made() {
    let large = Large::make(Shape::Mixed);
    listed(&large);
    told(&large);
    let found =
        json(&large.run(&["select", &format!("copy the {} please", Planted::MENTION), "--threshold", "2", "--json"]));
    assert_eq!(found["selected"][0]["matches"][0]["trigger"], Planted::MENTION);
    assert_eq!(
        (found["selected"].as_array().map(Vec::len), &found["selected"][0]["name"]),
        (Some(1), &Planted::NAME.into())
    );
    let file = format!("in/a{}", Planted::FILE_TYPE);
    let found = json(&large.run(&["select", "look", "--file", &file, "--json"]));
    assert_eq!(
        (found["selected"].as_array().map(Vec::len), &found["selected"][0]["name"]),
        (Some(1), &Planted::NAME.into())
    );
    let found = json(&large.run(&["search", Planted::PHRASE, "--json"]));
    assert_eq!(found["results"][0]["name"], Planted::NAME);
}

/// Status, scope and place of every copy are what the generator says they are.
fn listed(large: &Large) {
    let listing = json(&large.run(&["list", "--json"]));
    let mut found: BTreeMap<String, (String, String, String)> = BTreeMap::new();
    for skill in listing["skills"].as_array().unwrap() {
        let word = |field: &str| skill[field].as_str().unwrap_or_default().to_owned();
        found.insert(word("location"), (word("qualified_name"), word("status"), word("scope")));
    }
    assert_eq!(found.len(), SKILLS);
    for made in &large.library.made {
        let wanted = (made.qualified_name.clone(), made.status.to_owned(), made.scope.to_owned());
        let location = made.location.to_string_lossy();
        assert_eq!(found.get(&*location), Some(&wanted), "{location}");
    }
    // Without trust the project's skills are held back, and what they shadowed comes forward.
    let options = large.library.options();
    let untrusted: Vec<&str> = options.iter().map(String::as_str).filter(|word| *word != "--trust").collect();
    let told = run(&large.scratch, &[&["list"], untrusted.as_slice()].concat());
    let of_project =
        |status: &str| large.library.made.iter().filter(|made| made.is_in_project && made.status == status).count();
    let counts = format!(
        "{} active, {} hidden, {} invalid, {} untrusted\n",
        large.library.count("active") - of_project("active") + large.library.count("shadowed"),
        large.library.count("hidden") - of_project("hidden"),
        large.library.count("invalid"),
        of_project("active") + of_project("hidden"),
    );
    assert_eq!(told.stderr, counts);
}

/// Every active skill is told once, and no other.
fn told(large: &Large) {
    let told = large.run(&["prompt"]);
    let mut names: Vec<&str> =
        told.stdout.lines().filter_map(|line| line.trim().strip_prefix("<name>")?.strip_suffix("</name>")).collect();
    names.sort_unstable();
    let active = large.library.made.iter().filter(|made| made.status == "active");
    let mut wanted: Vec<&str> = active.map(|made| made.qualified_name.as_str()).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
}

#[test]
fn the_index_of_ten_thousand_skills_follows_every_change_and_survives_every_mishap() {
    let large = Large::make(Shape::Plain);
    assert_eq!(large.read_anew(), SKILLS);
    assert_eq!(large.read_anew(), 0);
    let name = large.library.made[SKILLS / 2].qualified_name.as_str();
    large.change(name, "It tells of periwinkle.\n");
    assert_eq!(large.read_anew(), 1, "the one that changed");
    large.change("late-comer", "");
    assert_eq!(large.read_anew(), 1, "the one that came");
    fs::remove_dir_all(large.library.folder.join("late-comer")).unwrap();
    assert_eq!(large.read_anew(), 0, "one went");
    let found = json(&large.run(&["search", "periwinkle", "--json"]));
    assert_eq!(found["results"][0]["name"], name);
    two_at_once(&large, name);
    killed_in_the_middle(&large, name);
    damaged(&large);
}

/// Two processes that both have something to write both answer, and leave one sound index.
fn two_at_once(large: &Large, name: &str) {
    large.change(name, "It tells of two at once.\n");
    let both = [large.search().spawn().unwrap(), large.search().spawn().unwrap()];
    for output in both.map(|child| child.wait_with_output().unwrap()) {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["results"][0]["name"], Planted::NAME);
    }
    assert_eq!(large.read_anew(), 0);
    assert_eq!(fs::read_dir(large.cache()).unwrap().count(), 1, "no temporary file is left");
}

/// The kernel kills whoever writes a file beyond the limit, which is in the middle of the index.
fn killed_in_the_middle(large: &Large, name: &str) {
    large.change(name, "It tells of an untimely end.\n");
    let before = fs::read(large.index()).unwrap();
    assert!(before.len() > 1024 * 1024);
    let search = large.search();
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -c 0; ulimit -f 512; exec \"$0\" \"$@\""])
        .arg(search.get_program())
        .args(search.get_args());
    limited.current_dir(large.scratch.work()).env("HOME", large.scratch.work().join("../home"));
    limited.env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
    let output = limited.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.signal().is_some(), "{output:?}");
    assert!(fs::read(large.index()).unwrap() == before, "the index is the old one, whole");
    assert_eq!(large.read_anew(), 1, "only what changed is read");
    // What the dead process left is swept away once nobody can still be writing it.
    let left =
        |large: &Large| fs::read_dir(large.cache()).unwrap().flatten().find(|item| item.file_name() != "search.idx");
    let unfinished = left(large).expect("the dead process left its file").path();
    let file = fs::File::options().write(true).open(&unfinished).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    large.change(name, "It tells of a sweep.\n");
    assert_eq!(large.read_anew(), 1);
    assert!(left(large).is_none(), "{} is still there", unfinished.display());
}

/// An index that is cut short, or changed inside, is made anew.
fn damaged(large: &Large) {
    let whole = fs::read(large.index()).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0x10;
    for bytes in [&whole[..whole.len() / 2], &changed] {
        fs::write(large.index(), bytes).unwrap();
        let told = large.run(&["search", Planted::PHRASE, "--limit", "1"]);
        assert!(told.stdout.contains(Planted::NAME) && told.stderr.contains("made anew"), "{told:?}");
        assert_eq!(large.read_anew(), 0);
    }
}
