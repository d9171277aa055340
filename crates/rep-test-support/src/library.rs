//! Makes libraries of any size: the same bytes for the same order, on every machine.
//!
//! What a skill says, how long it is and what is wrong with it follow from its number alone. The lengths are those of
//! public skills (descriptions: median 289 characters, one in twenty above 679; bodies: median 1,100 tokens); the words
//! are our own. A library tells what it made, so that a test compares instead of counting.

mod text;
mod words;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use text::Dice;

/// The most skills a library can have.
pub const SKILLS_MAX: usize = words::NAMES_MAX;

/// The one skill, number 0 of every library, that can be asked for by what no other skill says.
pub struct Planted;

impl Planted {
    /// Its name.
    pub const NAME: &'static str = "keep-lighthouse-log";
    /// A mention it alone declares; in a mixed library only, as all triggers.
    pub const MENTION: &'static str = "zanzibar ledger";
    /// A file type it alone declares.
    pub const FILE_TYPE: &'static str = ".zzlog";
    /// Words that stand in its body alone.
    pub const PHRASE: &'static str = "quixotic marmalade foghorn";
}

/// How a library is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One folder of sound SKILL.md skills with the fields of the specification alone, which every tool can list.
    Plain,
    /// Every scope, both dialects, collisions, packages, links, skills that opted out and skills that are broken.
    Mixed,
}

/// How long bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// As long as those of public skills.
    Real,
    /// An eighth of it, for tests that read them all.
    Short,
}

/// What library to make.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// How many skills.
    pub count: usize,
    /// How they are laid out.
    pub shape: Shape,
    /// How long their bodies are.
    pub bodies: Bodies,
}

/// A skill that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its name, with its package's: what listings call it.
    pub qualified_name: String,
    /// What it is where the project is trusted: `active`, `hidden`, `shadowed` or `invalid`.
    pub status: &'static str,
    /// Whose it is.
    pub scope: &'static str,
    /// Whether its project must be trusted first.
    pub is_in_project: bool,
    /// The file that makes it a skill.
    pub location: PathBuf,
}

/// A library on disk, and what is in it.
pub struct Library {
    /// Where it was made.
    pub folder: PathBuf,
    /// How it is laid out.
    pub shape: Shape,
    /// Its skills, by number.
    pub made: Vec<Made>,
}

impl Library {
    /// Makes a library in a folder that is there and empty. Two threads write, each its own skills.
    pub fn make(folder: &Path, order: Order) -> io::Result<Library> {
        assert!(order.count <= SKILLS_MAX, "there are names for {SKILLS_MAX} skills only");
        if order.shape == Shape::Mixed {
            packages(folder)?;
        }
        let half = order.count / 2;
        let part = |numbers: std::ops::Range<usize>| -> io::Result<Vec<Made>> {
            numbers.map(|number| make(folder, order, number)).collect()
        };
        let (first, second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| part(half..order.count));
            (part(0..half), second.join().expect("making skills does not panic"))
        });
        let mut made = first?;
        made.extend(second?);
        Ok(Library { folder: folder.to_owned(), shape: order.shape, made })
    }

    /// The options that make `rep` look at this library and at nothing else, its project trusted.
    pub fn options(&self) -> Vec<String> {
        let below = |name: &str| self.folder.join(name).to_string_lossy().into_owned();
        match self.shape {
            Shape::Plain => vec!["--path".into(), self.folder.to_string_lossy().into_owned()],
            Shape::Mixed => {
                let places = [("--project", "project"), ("--home", "home"), ("--managed", "managed")];
                let mut words: Vec<String> =
                    places.into_iter().flat_map(|(option, name)| [option.to_owned(), below(name)]).collect();
                words.push("--trust".into());
                words
            }
        }
    }

    /// How many skills have a status where the project is trusted.
    pub fn count(&self, status: &str) -> usize {
        self.made.iter().filter(|made| made.status == status).count()
    }
}

/// What kind of skill a number stands for in a mixed library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A SKILL.md nothing is the matter with.
    Sound,
    /// One that models may not call.
    OptedOut,
    /// One of four faults no host can load.
    Broken(usize),
    /// A personal copy of the project's skill with the number before this one.
    Copy,
    /// A personal skill that is a link to a folder elsewhere.
    Linked,
    /// A folder with a `*.uasp.yaml`.
    Uasp,
    /// A lone `*.uasp.yaml`.
    LoneUasp,
}

/// The folder of a mixed library that a number's skill lies in, its scope, and its package.
struct Home {
    folder: String,
    scope: &'static str,
    package: Option<String>,
    is_in_project: bool,
}

const PACKAGES: usize = 12;
const APPS: usize = 8;

fn kind(number: usize) -> Kind {
    match number % 100 {
        7 | 57 => Kind::Broken(number / 50 % 4),
        9 | 34 | 59 | 84 => Kind::Copy,
        11 | 51 | 71 => Kind::OptedOut,
        12 | 22 | 42 | 52 | 62 | 72 | 92 => Kind::Uasp,
        13 => Kind::LoneUasp,
        14 | 64 => Kind::Linked,
        _ => Kind::Sound,
    }
}

fn home(number: usize) -> Home {
    let of = |folder: String, scope, is_in_project| Home { folder, scope, package: None, is_in_project };
    match number % 100 {
        // What is copied is the project's, and the copies are the user's: the project wins.
        8 | 33 | 58 | 83 => of("project/.claude/skills".into(), "project", true),
        9 | 34 | 59 | 84 => of("home/.agents/skills".into(), "personal", false),
        15..=24 => {
            let package = format!("team-{:02}", number / 100 % PACKAGES);
            let folder = format!("home/.agent-packages/{package}/skills");
            Home { package: Some(package), ..of(folder, "package", false) }
        }
        25..=29 => of("managed".into(), "managed", false),
        35..=39 => of(format!("project/apps/app-{}/.claude/skills", number / 100 % APPS), "project", true),
        40..=56 => of("project/skills".into(), "project", true),
        60..=63 => of("project/.agents/skills".into(), "project", true),
        _ => of("home/.claude/skills".into(), "personal", false),
    }
}

fn packages(folder: &Path) -> io::Result<()> {
    for number in 0..PACKAGES {
        let package = folder.join(format!("home/.agent-packages/team-{number:02}"));
        fs::create_dir_all(&package)?;
        fs::write(package.join("package.agent.json"), format!("{{\"name\": \"team-{number:02}\"}}\n"))?;
    }
    for place in ["project", "managed"] {
        fs::create_dir_all(folder.join(place))?;
    }
    Ok(())
}

/// The name of the skill with a number.
fn name(number: usize) -> String {
    if number == 0 { Planted::NAME.to_owned() } else { words::name(number) }
}

fn make(folder: &Path, order: Order, number: usize) -> io::Result<Made> {
    let mut dice = Dice::new(number);
    if order.shape == Shape::Plain {
        let name = name(number);
        let skill = folder.join(&name);
        write(&skill, &text::skill(&name, number, order, "", &mut dice), number, &mut dice)?;
        let location = skill.join("SKILL.md");
        return Ok(Made { qualified_name: name, status: "active", scope: "project", is_in_project: false, location });
    }
    let (kind, home) = (kind(number), home(number));
    let name = if kind == Kind::Copy { name(number - 1) } else { name(number) };
    let root = folder.join(&home.folder);
    let skill = root.join(&name);
    let uasp = || format!("{name}.uasp.yaml");
    let mut location = skill.join("SKILL.md");
    let plain = |more: &str, dice: &mut Dice| text::skill(&name, number, order, more, dice);
    let mut status = "active";
    match kind {
        Kind::Sound => write(&skill, &plain("", &mut dice), number, &mut dice)?,
        Kind::OptedOut => {
            status = "hidden";
            write(&skill, &plain("disable-model-invocation: true\n", &mut dice), number, &mut dice)?;
        }
        Kind::Copy => {
            status = "shadowed";
            write(&skill, &plain("", &mut dice), number, &mut dice)?;
        }
        Kind::Broken(how) => {
            status = "invalid";
            write(&skill, &text::broken(&name, how, &mut dice), number, &mut dice)?;
        }
        Kind::Linked => {
            let elsewhere = folder.join("elsewhere").join(&name);
            write(&elsewhere, &plain("", &mut dice), number, &mut dice)?;
            fs::create_dir_all(&root)?;
            std::os::unix::fs::symlink(&elsewhere, &skill)?;
            location = elsewhere.join("SKILL.md");
        }
        Kind::Uasp => {
            fs::create_dir_all(&skill)?;
            location = skill.join(uasp());
            fs::write(&location, text::uasp(&name, &mut dice))?;
        }
        Kind::LoneUasp => {
            fs::create_dir_all(&root)?;
            location = root.join(uasp());
            fs::write(&location, text::uasp(&name, &mut dice))?;
        }
    }
    let qualified_name = home.package.map_or_else(|| name.clone(), |package| format!("{package}:{name}"));
    Ok(Made { qualified_name, status, scope: home.scope, is_in_project: home.is_in_project, location })
}

/// Writes a skill's folder; some have further files, which discovery must leave alone.
fn write(skill: &Path, text: &str, number: usize, dice: &mut Dice) -> io::Result<()> {
    fs::create_dir_all(skill)?;
    fs::write(skill.join("SKILL.md"), text)?;
    if text::has_reference(number) {
        fs::create_dir(skill.join("references"))?;
        fs::write(skill.join(text::REFERENCE), text::paragraphs(dice, 1_500))?;
    }
    if text::has_script(number) {
        fs::create_dir(skill.join("scripts"))?;
        fs::write(skill.join(text::SCRIPT), "#!/bin/sh\nset -eu\nsort -u \"$1\"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn files(folder: &Path, found: &mut BTreeSet<(PathBuf, Vec<u8>)>, root: &Path) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                files(&path, found, root);
            } else if !entry.file_type().unwrap().is_symlink() {
                found.insert((path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }

    #[test]
    fn the_same_order_gives_the_same_bytes() {
        let order = Order { count: 250, shape: Shape::Mixed, bodies: Bodies::Real };
        let once = || {
            let folder = tempfile::tempdir().unwrap();
            Library::make(folder.path(), order).unwrap();
            let mut found = BTreeSet::new();
            files(folder.path(), &mut found, folder.path());
            found
        };
        let (one, two) = (once(), once());
        assert!(one.len() > 250 && one == two);
    }

    #[test]
    fn every_kind_is_there_and_names_are_unique_but_for_the_copies() {
        let folder = tempfile::tempdir().unwrap();
        let order = Order { count: 400, shape: Shape::Mixed, bodies: Bodies::Short };
        let library = Library::make(folder.path(), order).unwrap();
        assert_eq!(library.made.len(), 400);
        let names: BTreeSet<&str> = library.made.iter().map(|made| made.qualified_name.as_str()).collect();
        assert_eq!(names.len(), 400 - library.count("shadowed"));
        for status in ["active", "hidden", "shadowed", "invalid"] {
            assert!(library.count(status) > 0, "{status}");
        }
        for scope in ["managed", "project", "personal", "package"] {
            assert!(library.made.iter().any(|made| made.scope == scope), "{scope}");
        }
        assert!(library.made.iter().all(|made| made.location.is_file()));
    }

    #[test]
    fn names_are_unique_up_to_the_most() {
        let names: BTreeSet<String> = (0..SKILLS_MAX).map(name).collect();
        assert_eq!(names.len(), SKILLS_MAX);
    }

    #[test]
    fn lengths_are_those_of_public_skills() {
        let mut lengths: Vec<usize> =
            (1..2_000).map(|number| text::description(&mut Dice::new(number)).len()).collect();
        lengths.sort_unstable();
        let (median, high) = (lengths[lengths.len() / 2], lengths[lengths.len() * 95 / 100]);
        assert!((260..320).contains(&median) && (600..760).contains(&high), "{median}, {high}");
        let mut bodies: Vec<usize> =
            (1..2_000).map(|number| text::body(number, Bodies::Real, &mut Dice::new(number)).len() / 4).collect();
        bodies.sort_unstable();
        assert!((950..1_300).contains(&bodies[bodies.len() / 2]), "{} tokens", bodies[bodies.len() / 2]);
    }
}
