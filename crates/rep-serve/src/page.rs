//! Pages of a list. A cursor is good for the snapshot it was given out for, and for no other.

use rmcp::ErrorData;

use crate::fault;

/// The most items of a page. Clients that never ask for a second one are common, so that it is large.
pub(crate) const PAGE_MAX: usize = 500;

/// A page, and where the next one begins.
pub(crate) struct Page<'a, T> {
    pub(crate) items: &'a [T],
    pub(crate) next: Option<String>,
}

/// The page of a list that a cursor names; the first without one. `mark` is the snapshot's own number.
pub(crate) fn page<'a, T>(
    items: &'a [T],
    mark: u64,
    cursor: Option<&str>,
    most: usize,
) -> Result<Page<'a, T>, ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let parsed = cursor
                .split_once('.')
                .and_then(|(of, at)| Some((u64::from_str_radix(of, 16).ok()?, usize::from_str_radix(at, 16).ok()?)));
            match parsed {
                Some((of, at)) if of == mark && at <= items.len() => at,
                Some((of, _)) if of != mark => {
                    return Err(fault::invalid(
                        "the skills changed since this cursor was given out; list from the start",
                    ));
                }
                _ => return Err(fault::invalid("this is no cursor of this list")),
            }
        }
    };
    let end = items.len().min(start.saturating_add(most));
    let next = (end < items.len()).then(|| format!("{mark:x}.{end:x}"));
    Ok(Page { items: &items[start..end], next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_and_end() {
        let items: Vec<u32> = (0..10).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = page(&items, 7, cursor.as_deref(), 4).unwrap();
            seen.extend_from_slice(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, items);
    }

    #[test]
    fn a_cursor_of_another_snapshot_or_of_nobody_is_an_error() {
        let items = [1, 2, 3];
        let next = page(&items, 7, None, 2).unwrap().next.unwrap();
        assert!(page(&items, 8, Some(&next), 2).err().unwrap().message.contains("changed"));
        for cursor in ["", ".", "x", "7.", "7.ff", "7.-1", "ffffffffffffffffff.0"] {
            assert!(page(&items, 7, Some(cursor), 2).is_err(), "{cursor}");
        }
    }
}
