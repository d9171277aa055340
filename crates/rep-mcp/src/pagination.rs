//! Pagination of lists. A cursor is valid only for the catalog generation that it was issued for.

use rmcp::ErrorData;

use crate::protocol_error;

/// The maximum number of items of a page. It is large because many clients never request a second page.
pub(crate) const PAGE_ITEMS_MAX: usize = 500;

/// A page of a list, and the cursor of the next one.
pub(crate) struct ListPage<'a, T> {
    pub(crate) items: &'a [T],
    pub(crate) next: Option<String>,
}

/// Returns the page at a cursor, or the first page without a cursor.
pub(crate) fn page_at_cursor<'a, T>(
    items: &'a [T],
    generation: u64,
    cursor: Option<&str>,
    items_max: usize,
) -> Result<ListPage<'a, T>, ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let parsed = cursor.split_once('.').and_then(|(issued, start)| {
                Some((u64::from_str_radix(issued, 16).ok()?, usize::from_str_radix(start, 16).ok()?))
            });
            match parsed {
                Some((issued, start)) if issued == generation && start <= items.len() => start,
                Some((issued, _)) if issued != generation => {
                    return Err(protocol_error::invalid_params(
                        "the skills changed since this cursor was issued; list again without a cursor",
                    ));
                }
                _ => return Err(protocol_error::invalid_params("invalid cursor; list again without a cursor")),
            }
        }
    };
    let end = items.len().min(start.saturating_add(items_max));
    let next = (end < items.len()).then(|| format!("{generation:x}.{end:x}"));
    Ok(ListPage { items: &items[start..end], next })
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
            let page = page_at_cursor(&items, 7, cursor.as_deref(), 4).unwrap();
            seen.extend_from_slice(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, items);
    }

    #[test]
    fn a_cursor_of_another_generation_or_a_made_up_one_is_an_error() {
        let items = [1, 2, 3];
        let next = page_at_cursor(&items, 7, None, 2).unwrap().next.unwrap();
        assert!(page_at_cursor(&items, 8, Some(&next), 2).err().unwrap().message.contains("changed"));
        for cursor in ["", ".", "x", "7.", "7.ff", "7.-1", "ffffffffffffffffff.0"] {
            assert!(page_at_cursor(&items, 7, Some(cursor), 2).is_err(), "{cursor}");
        }
    }
}
