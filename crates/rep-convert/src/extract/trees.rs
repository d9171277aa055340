//! Decision trees drawn with lines in a code block.

use super::constraints::tidy;
use super::decisions::Decision;

/// The deepest drawing that is read.
const DEPTH_MAX: usize = 12;

/// A line of the tree that others hang below.
struct Node {
    column: usize,
    /// What holds once this line is reached.
    settled: String,
    /// What it asks.
    question: Option<String>,
}

/// The decisions of a drawn tree, each with how many lines below the first it stands.
pub(super) fn decisions(text: &str) -> Vec<(usize, Decision)> {
    // A folder is drawn the same way; only a tree that asks is one of decisions.
    let asks = text.contains('?') || text.contains("─ Yes") || text.contains("─ No") || text.contains("─ If ");
    if !text.contains(['├', '└']) || !asks {
        return Vec::new();
    }
    let mut found: Vec<(usize, Decision)> = Vec::new();
    let mut above: Vec<Node> = Vec::new();
    let mut open: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let content = line.trim_start_matches(|letter: char| letter.is_whitespace() || "│├└─┬┤|+".contains(letter));
        if content.is_empty() || above.len() > DEPTH_MAX {
            continue;
        }
        let column = line.chars().count() - content.chars().count();
        let is_branch = line.contains(['├', '└']);
        if !is_branch && column > 0 && !above.is_empty() {
            // What stands below a branch and to its right goes on with its action.
            if let Some((_, decision)) = open.and_then(|index| found.get_mut(index))
                && decision.then.len() < 400
            {
                decision.then = format!("{}; {}", decision.then, tidy(content));
            }
            continue;
        }
        while above.last().is_some_and(|node| node.column >= column) {
            above.pop();
        }
        open = branch(content, column, &mut above).map(|decision| {
            found.push((number, decision));
            found.len() - 1
        });
    }
    found
}

/// Reads one branch: its answer, and the action or the next question behind it.
fn branch(content: &str, column: usize, above: &mut Vec<Node>) -> Option<Decision> {
    let content = content.trim();
    let (answer, rest) = match content.split_once(['→', '⟶']) {
        Some((answer, rest)) => (answer.trim(), rest.trim()),
        None if content.ends_with('?') => ("", content),
        None => content.split_once(": ").map_or((content, ""), |(answer, rest)| (answer.trim(), rest.trim())),
    };
    let settled = match above.last() {
        // The root only says what the tree is about.
        None => String::new(),
        Some(Node { question: Some(question), .. }) => answered(question, answer),
        Some(_) => answer.to_owned(),
    };
    let conditions = above.iter().map(|node| node.settled.as_str()).chain([settled.as_str()]);
    let when: Vec<&str> = conditions.filter(|text| !text.is_empty()).collect();
    let question = rest.ends_with('?').then(|| rest.to_owned());
    let decision = if question.is_some() { None } else { Decision::of(&when.join(", and "), rest) };
    above.push(Node { column, settled, question });
    decision
}

/// A question with its answer as a statement, where it is simple enough.
fn answered(question: &str, answer: &str) -> String {
    let lower = answer.to_lowercase();
    let (is_yes, is_no) = (lower.starts_with("yes"), lower.starts_with("no"));
    let bare = question.trim_end_matches('?').trim();
    if !is_yes && !is_no {
        return if answer.is_empty() { bare.to_owned() } else { format!("{bare}: {answer}") };
    }
    let more = answer.find('(').map_or("", |at| &answer[at..]);
    for subject in ["it", "this", "that", "there", "you", "they"] {
        for verb in ["Is", "Are"] {
            if let Some(rest) = bare.strip_prefix(&format!("{verb} {subject} ")) {
                let not = if is_no { "not " } else { "" };
                return format!("{subject} {} {not}{rest} {more}", verb.to_lowercase()).trim_end().to_owned();
            }
        }
    }
    format!("{bare}: {answer}")
}
