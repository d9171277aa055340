//! The bundled skills of the tour.

/// Paths in the temporary directory, and their texts.
pub(super) const FILES: &[(&str, &str)] = &[
    ("faulty/Bad_Name/SKILL.md", include_str!("../../../tour/Bad_Name/SKILL.md")),
    ("faulty/leaky/SKILL.md", include_str!("../../../tour/leaky/SKILL.md")),
    ("faulty/pdf-tools/SKILL.md", include_str!("../../../tour/pdf-tools/SKILL.md")),
    ("skills/changelog-notes/SKILL.md", include_str!("../../../../../examples/changelog-notes/SKILL.md")),
    ("skills/changelog-notes/assets/entry.md", include_str!("../../../../../examples/changelog-notes/assets/entry.md")),
    (
        "skills/changelog-notes/references/entry-kinds.md",
        include_str!("../../../../../examples/changelog-notes/references/entry-kinds.md"),
    ),
    ("skills/csv-profile/SKILL.md", include_str!("../../../../../examples/csv-profile/SKILL.md")),
    ("skills/csv-profile/tools.json", include_str!("../../../../../examples/csv-profile/tools.json")),
    ("skills/csv-profile/data/harvest.csv", include_str!("../../../../../examples/csv-profile/data/harvest.csv")),
    ("skills/csv-profile/scripts/profile.py", include_str!("../../../../../examples/csv-profile/scripts/profile.py")),
    ("skills/disk-tidy/SKILL.md", include_str!("../../../../../examples/disk-tidy/SKILL.md")),
    ("skills/disk-tidy/scripts/clutter.sh", include_str!("../../../../../examples/disk-tidy/scripts/clutter.sh")),
    (
        "skills/disk-tidy/scripts/find-clutter.sh",
        include_str!("../../../../../examples/disk-tidy/scripts/find-clutter.sh"),
    ),
    ("skills/disk-tidy/scripts/save-list.sh", include_str!("../../../../../examples/disk-tidy/scripts/save-list.sh")),
    ("skills/disk-tidy/data/clutter/menu.txt", include_str!("../../../../../examples/disk-tidy/data/clutter/menu.txt")),
    (
        "skills/disk-tidy/data/clutter/menu.txt.orig",
        include_str!("../../../../../examples/disk-tidy/data/clutter/menu.txt.orig"),
    ),
    (
        "skills/disk-tidy/data/clutter/menu.txt.rej",
        include_str!("../../../../../examples/disk-tidy/data/clutter/menu.txt.rej"),
    ),
    (
        "skills/disk-tidy/data/clutter/upload.tmp",
        include_str!("../../../../../examples/disk-tidy/data/clutter/upload.tmp"),
    ),
    (
        "skills/disk-tidy/data/clutter/drafts/letter.txt.bak",
        include_str!("../../../../../examples/disk-tidy/data/clutter/drafts/letter.txt.bak"),
    ),
    ("skills/glossary/SKILL.md", include_str!("../../../../../examples/glossary/SKILL.md")),
    (
        "skills/http-status/http-status.uasp.yaml",
        include_str!("../../../../../examples/http-status/http-status.uasp.yaml"),
    ),
];
