//! Pagination of lists. A cursor is valid only for the catalog generation that it was issued for.

use rmcp::ErrorData;
use serde::Serialize;

use crate::protocol_error;

/// The maximum number of items of a page. It is large because many clients never request a second page.
pub(crate) const PAGE_ITEMS_MAX: usize = 500;
/// The maximum size of the items of a page, as JSON. Some clients cannot read larger answers.
const PAGE_BYTES_MAX: usize = 512 << 10;

/// A page of a list, and the cursor of the next one.
pub(crate) struct ListPage<'a, T> {
    pub(crate) items: &'a [T],
    pub(crate) next: Option<String>,
}

impl<'a, T> ListPage<'a, T> {
    fn new(items: &'a [T], start: usize, end: usize, generation: u64) -> Self {
        Self { items: &items[start..end], next: (end < items.len()).then(|| render_cursor(generation, end)) }
    }
}

/// Returns the page at a cursor, or the first page without a cursor.
pub(crate) fn page_at_cursor<'a, T>(
    items: &'a [T],
    generation: u64,
    cursor: Option<&str>,
    items_max: usize,
) -> Result<ListPage<'a, T>, ErrorData> {
    let start = parse_cursor(generation, cursor, items.len())?;
    let end = items.len().min(start.saturating_add(items_max));
    Ok(ListPage::new(items, start, end, generation))
}

/// Returns the page at a cursor, which ends where its items exceed [`PAGE_BYTES_MAX`] as JSON.
pub(crate) fn page_by_bytes<'a, T: Serialize>(
    items: &'a [T],
    generation: u64,
    cursor: Option<&str>,
) -> Result<ListPage<'a, T>, ErrorData> {
    let start = parse_cursor(generation, cursor, items.len())?;
    let mut budget = ByteBudget::default();
    let fitting = items[start..].iter().take(PAGE_ITEMS_MAX).take_while(|item| budget.has_room_for(item)).count();
    Ok(ListPage::new(items, start, start + fitting, generation))
}

/// The bytes that a page has left.
#[derive(Default)]
pub(crate) struct ByteBudget(usize);

impl ByteBudget {
    /// Adds an item if the page has room for it. The first item always has.
    pub(crate) fn has_room_for<T: Serialize>(&mut self, item: &T) -> bool {
        let mut counter = ByteCounter(0);
        // Counting cannot fail; an item that is not JSON fails when it is sent.
        let _ = serde_json::to_writer(&mut counter, item);
        let is_first = self.0 == 0;
        self.0 += counter.0;
        is_first || self.0 <= PAGE_BYTES_MAX
    }
}

/// Counts the bytes that are written.
struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the cursor of the page that starts at an item.
pub(crate) fn render_cursor(generation: u64, start: usize) -> String {
    format!("{generation:x}.{start:x}")
}

/// Returns the item that a page starts at.
pub(crate) fn parse_cursor(generation: u64, cursor: Option<&str>, count: usize) -> Result<usize, ErrorData> {
    Ok(match cursor {
        None => 0,
        Some(cursor) => {
            let parsed = cursor.split_once('.').and_then(|(issued, start)| {
                Some((u64::from_str_radix(issued, 16).ok()?, usize::from_str_radix(start, 16).ok()?))
            });
            match parsed {
                Some((issued, start)) if issued == generation && start <= count => start,
                Some((issued, _)) if issued != generation => {
                    return Err(protocol_error::invalid_params(
                        "the skills changed since this cursor was issued; list again without a cursor",
                    ));
                }
                _ => return Err(protocol_error::invalid_params("invalid cursor; list again without a cursor")),
            }
        }
    })
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
