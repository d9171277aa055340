//! The messages in a body of server-sent events.

/// Returns the data of each event. Comments, names and numbers of events are ignored.
pub(crate) fn split_events(body: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut data: Option<String> = None;
    for line in body.split(['\n']).map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(text) = line.strip_prefix("data:") {
            let text = text.strip_prefix(' ').unwrap_or(text);
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(text);
                }
                None => data = Some(text.to_owned()),
            }
        }
    }
    // An event that was cut off by the end of the stream may still be whole.
    events.extend(data);
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_separated_by_blank_lines() {
        let body = ": hello\r\nevent: message\r\nid: 1\r\ndata: {\"a\":\r\ndata:1}\r\n\r\n\r\ndata: {}\n\ndata: last";
        assert_eq!(split_events(body), ["{\"a\":\n1}", "{}", "last"]);
        assert_eq!(split_events("event: ping\n\n"), Vec::<String>::new());
    }
}
