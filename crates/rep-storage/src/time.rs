//! Formats timestamps as RFC 3339 in UTC with milliseconds, which sorts as text. Callers provide the current time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Formats a timestamp, such as `2026-11-15T13:06:46.120Z`.
pub fn format_timestamp(at: SystemTime) -> String {
    // Times before 1970 or after the year 9999 come from a wrong clock.
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = i64::try_from(since.as_millis()).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    at.unwrap_or(Timestamp::UNIX_EPOCH).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Parses a date, a date with a time in UTC, or an age such as `90s`, `15m`, `2h` or `3d`.
pub fn parse(word: &str, now: SystemTime) -> Option<SystemTime> {
    if let Some(unit) = word.chars().last().filter(|letter| "smhd".contains(*letter)) {
        let number: u64 = word[..word.len() - 1].parse().ok()?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => 86_400,
        };
        return now.checked_sub(Duration::from_secs(number.checked_mul(seconds)?));
    }
    let word = word.strip_suffix('Z').unwrap_or(word);
    let at: DateTime = match word.parse::<Date>() {
        Ok(date) if word.len() == 10 => date.at(0, 0, 0, 0),
        _ => word.parse().ok()?,
    };
    let at: Zoned = at.to_zoned(TimeZone::UTC).ok()?;
    SystemTime::from(at.timestamp()).duration_since(UNIX_EPOCH).ok().map(|since| UNIX_EPOCH + since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        let now = UNIX_EPOCH + Duration::from_millis(1_772_000_096_123);
        assert_eq!(format_timestamp(now), "2026-02-25T06:14:56.123Z");
        assert_eq!(parse(&format_timestamp(now), now), Some(now));
        assert_eq!(parse("1970-01-02", now), Some(UNIX_EPOCH + Duration::from_hours(24)));
        assert_eq!(parse("2026-02-25 06:14", now), parse("2026-02-25T06:14:00Z", now));
        assert_eq!(parse("2h", now), Some(now - Duration::from_hours(2)));
        for bad in [
            "",
            "h",
            "2026-02-30",
            "2026-13-01",
            "yesterday",
            "-1d",
            "2026-02-25T25:00",
            "1969-12-31",
            "99999999999999999999d",
        ] {
            assert_eq!(parse(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_clock_that_is_wrong_is_written_all_the_same() {
        assert_eq!(format_timestamp(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
        assert_eq!(format_timestamp(UNIX_EPOCH + Duration::from_hours(24 * 365 * 20_000)), "1970-01-01T00:00:00.000Z");
    }
}
