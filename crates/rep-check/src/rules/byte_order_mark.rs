use crate::profile::{FORMAT, REFERENCE};
use crate::{Check, Cite, Level, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "byte-order-mark",
    summary: "the file starts with a byte order mark",
    since: "0.1.0",
    levels: Levels {
        error: REFERENCE,
        warning: FORMAT.without(REFERENCE),
        unasked: Some(Level::Warning),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("SKILL.md format"),
        Cite::reference("the first bytes of the file"),
        Cite::evidence("§2: 0.09% of skills"),
    ],
    requirements: &["PKG-02"],
    page: include_str!("byte_order_mark.md"),
    check: Check::Parse,
};
