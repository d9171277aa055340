//! Points in time as text: RFC 3339 in UTC with milliseconds, which sorts as it should. Clocks are handed in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_S: u64 = 86_400;

/// A point in time as text: `2026-11-15T13:06:46.120Z`.
pub fn text(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = date(since.as_secs() / DAY_S);
    let rest = since.as_secs() % DAY_S;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// Reads a point in time: a date, a date with a time in UTC, or how long ago: `90s`, `15m`, `2h`, `3d`.
pub fn parse(word: &str, now: SystemTime) -> Option<SystemTime> {
    if let Some(letter) = word.chars().last().filter(|letter| "smhd".contains(*letter)) {
        let number: u64 = word[..word.len() - 1].parse().ok()?;
        let seconds = match letter {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => DAY_S,
        };
        return now.checked_sub(Duration::from_secs(number.checked_mul(seconds)?));
    }
    let (day, time) = word.split_once(['T', ' ']).unwrap_or((word, "00:00:00"));
    let number = |text: &str, digits: usize| -> Option<u64> {
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
    };
    let mut parts = day.split('-');
    let (year, month, day) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let mut parts = time.trim_end_matches('Z').split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let (second, millis) = match parts.next() {
        None => (0, 0),
        Some(text) => match text.split_once('.') {
            None => (number(text, 2)?, 0),
            Some((second, part)) => (number(second, 2)?, number(part, 3)?),
        },
    };
    let days = days_of(year, month, day)?;
    let is_time = hour < 24 && minute < 60 && second < 61;
    let seconds = days * DAY_S + hour * 3600 + minute * 60 + second;
    is_time.then(|| UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(millis))
}

/// Year, month and day of a day since 1970.
fn date(days: u64) -> (u64, u64, u64) {
    // Years that start in March have their odd day at the end; an era is the 400 years after which dates repeat.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// The day since 1970 of a date; `None` where there is no such day, or it is earlier.
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || year < 1970 {
        return None;
    }
    let shifted = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day.checked_sub(1)?;
    let (era, year_of_era) = (shifted / 400, shifted % 400);
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = days.checked_sub(719_468)?;
    (date(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_five_centuries_comes_back() {
        for day in 0..180_000 {
            let (year, month, of_month) = date(day);
            assert_eq!(days_of(year, month, of_month), Some(day), "{year}-{month}-{of_month}");
        }
    }

    #[test]
    fn times_are_written_and_read() {
        let now = UNIX_EPOCH + Duration::from_millis(1_772_000_096_123);
        assert_eq!(text(now), "2026-02-25T06:14:56.123Z");
        assert_eq!(parse(&text(now), now), Some(now));
        assert_eq!(parse("1970-01-02", now), Some(UNIX_EPOCH + Duration::from_hours(24)));
        assert_eq!(parse("2h", now), Some(now - Duration::from_hours(2)));
        for bad in
            ["", "h", "2026-02-30", "2026-13-01", "yesterday", "-1d", "2026-02-25T25:00", "99999999999999999999d"]
        {
            assert_eq!(parse(bad, now), None, "{bad}");
        }
    }
}
