//! Extracts decision trees drawn with line characters in a code block.

/// The maximum depth of a tree.
const DEPTH_MAX: usize = 12;

/// A line of the tree with lines below it.
struct DecisionNode {
    column: usize,
    /// The condition under which this line is reached.
    condition: String,
    /// The question that it asks.
    question: Option<String>,
}

/// Returns the decisions of a drawn tree, each with its line offset from the first line.
pub(super) fn parse_decision_tree(text: &str) -> Vec<(usize, String, String)> {
    // Directory trees are drawn the same way; only a tree with questions contains decisions.
    let asks = ["?", "─ Yes", "─ No", "─ If "].iter().any(|mark| text.contains(mark));
    let mut found: Vec<(usize, String, String)> = Vec::new();
    let mut above: Vec<DecisionNode> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|_| asks && text.contains(['├', '└'])) {
        let content = line.trim_start_matches(|letter: char| letter.is_whitespace() || "│├└─┬┤|+".contains(letter));
        let column = line.chars().count() - content.chars().count();
        let is_continued = !line.contains(['├', '└']) && column > 0 && !above.is_empty();
        if content.is_empty() || above.len() > DEPTH_MAX || is_continued {
            continue;
        }
        while above.pop_if(|node| node.column >= column).is_some() {}
        let decision = parse_branch(content.trim(), column, &mut above);
        found.extend(decision.map(|(when, then)| (number, when, then)));
    }
    found
}

/// Parses a branch: its answer, and the action or the next question after it.
fn parse_branch(content: &str, column: usize, above: &mut Vec<DecisionNode>) -> Option<(String, String)> {
    let (answer, rest) = match content.split_once(['→', '⟶']).or_else(|| content.split_once(": ")) {
        _ if content.ends_with('?') && !content.contains(['→', '⟶']) => ("", content),
        Some((answer, rest)) => (answer.trim(), rest.trim()),
        None => (content, ""),
    };
    let settled = match above.last() {
        // The root only states the topic of the tree.
        None => String::new(),
        Some(DecisionNode { question: Some(question), .. }) => join_question_and_answer(question, answer),
        Some(_) => answer.to_owned(),
    };
    let conditions = above.iter().map(|node| node.condition.as_str()).chain([settled.as_str()]);
    let when: Vec<&str> = conditions.filter(|text| !text.is_empty()).collect();
    let question = rest.ends_with('?').then(|| rest.to_owned());
    let is_action = question.is_none() && !rest.is_empty();
    let decision = is_action.then(|| (when.join(", and "), rest.to_owned()));
    above.push(DecisionNode { column, condition: settled, question });
    decision
}

/// Turns a simple question and its answer into a statement.
fn join_question_and_answer(question: &str, answer: &str) -> String {
    let bare = question.trim_end_matches('?').trim();
    let not = match answer.get(..2).unwrap_or_default().to_lowercase().as_str() {
        "ye" => "",
        "no" => "not ",
        _ if answer.is_empty() => return bare.to_owned(),
        _ => return format!("{bare}: {answer}"),
    };
    let more = answer.find('(').map_or("", |at| &answer[at..]);
    let mut parts = bare.splitn(3, ' ');
    if let (Some(verb @ ("Is" | "Are")), Some(subject), Some(rest)) = (parts.next(), parts.next(), parts.next())
        && ["it", "this", "that", "there", "you", "they"].contains(&subject)
    {
        return format!("{subject} {} {not}{rest} {more}", verb.to_lowercase()).trim_end().to_owned();
    }
    format!("{bare}: {answer}")
}
