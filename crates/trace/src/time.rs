//! The moment a run started, to the second, in UTC.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use ringlane_task::Explain;
use serde::{Deserialize, Serialize};

const DAY_S: u64 = 86_400;
/// The last second of the year 9999: the last one that four digits can name.
const MAX_S: u64 = 253_402_300_799;

/// A moment in UTC, in whole seconds, from 1970 to 9999.
///
/// ```
/// use ringlane_trace::UtcTime;
/// let t: UtcTime = "2026-11-15T09:30:12Z".parse().unwrap();
/// assert_eq!(t.compact(), "20261115_093012");
/// assert_eq!(UtcTime::from_unix_seconds(0).to_string(), "1970-01-01T00:00:00Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct UtcTime {
    unix_s: u64,
}

/// A text that is no moment of the form `2026-11-15T09:30:12Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct BadTime;

ringlane_task::display_explained!(BadTime);

impl Explain for BadTime {
    fn name(&self) -> &'static str {
        "BadTime"
    }

    fn summary(&self) -> String {
        "a text is not a time".to_string()
    }

    fn detail(&self) -> String {
        "not a time like 2026-11-15T09:30:12Z".to_string()
    }

    fn hint(&self) -> String {
        "use UTC with whole seconds and a Z at the end".to_string()
    }
}

impl UtcTime {
    /// Now, by the machine's clock.
    pub fn now() -> Self {
        Self::from_unix_seconds(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
    }

    /// The time `seconds` after the start of 1970; any time after the year 9999 becomes its last second.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        UtcTime { unix_s: seconds.min(MAX_S) }
    }

    /// Seconds since the start of 1970.
    pub const fn unix_seconds(self) -> u64 {
        self.unix_s
    }

    /// `YYYYmmdd_HHMMSS`, as in the name of a run directory.
    pub fn compact(self) -> String {
        let ([year, month, day], [hour, minute, second]) = self.fields();
        format!("{year:04}{month:02}{day:02}_{hour:02}{minute:02}{second:02}")
    }

    fn fields(self) -> ([u64; 3], [u64; 3]) {
        let second = self.unix_s % DAY_S;
        (date_of_day(self.unix_s / DAY_S), [second / 3600, second / 60 % 60, second % 60])
    }
}

// Both conversions count from 1 March of year 0, so that the leap day is the last of its year and a month's
// first day follows from 153 days for every five months. 719,468 days are between that and 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;
/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: u64 = 146_097;

/// Year, month and day of a day counted from 1 January 1970.
fn date_of_day(day: u64) -> [u64; 3] {
    let day = day + DAYS_BEFORE_1970;
    let (era, day_of_era) = (day / ERA_DAYS, day % ERA_DAYS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    [era * 400 + year_of_era + u64::from(month <= 2), month, day_of_month]
}

/// The day, counted from 1 January 1970, of a date from then on.
fn day_of_date([year, month, day]: [u64; 3]) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - DAYS_BEFORE_1970
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([year, month, day], [hour, minute, second]) = self.fields();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for UtcTime {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let number = |at: usize, digits: usize| -> Result<u64, BadTime> {
            let digits = text.get(at..at + digits).filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|d| d.parse().ok()).ok_or(BadTime)
        };
        let date = [number(0, 4)?, number(5, 2)?, number(8, 2)?];
        let [hour, minute, second] = [number(11, 2)?, number(14, 2)?, number(17, 2)?];
        if date[0] < 1970 || !(1..=12).contains(&date[1]) || !(1..=31).contains(&date[2]) {
            return Err(BadTime);
        }
        let time = UtcTime { unix_s: day_of_date(date) * DAY_S + hour * 3600 + minute * 60 + second };
        // A moment has one spelling: this refuses 30 February, 24:00 and wrong separators alike.
        if time.unix_s <= MAX_S && time.to_string() == text { Ok(time) } else { Err(BadTime) }
    }
}

impl From<UtcTime> for String {
    fn from(time: UtcTime) -> String {
        time.to_string()
    }
}

impl TryFrom<String> for UtcTime {
    type Error = BadTime;

    fn try_from(text: String) -> Result<Self, BadTime> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_have_their_known_names() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (MAX_S, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(UtcTime::from_unix_seconds(seconds).to_string(), text);
            assert_eq!(text.parse(), Ok(UtcTime::from_unix_seconds(seconds)));
        }
        assert_eq!(UtcTime::from_unix_seconds(u64::MAX).unix_seconds(), MAX_S);
    }

    #[test]
    fn the_calendar_counts_every_day_once_until_9999() {
        let lengths = |year: u64| {
            let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            [31, 28 + u64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        };
        let mut count = 0;
        for year in 1970..=9999 {
            for (month, length) in lengths(year).into_iter().enumerate() {
                for day in 1..=length {
                    let date = [year, month as u64 + 1, day];
                    assert_eq!((date_of_day(count), day_of_date(date)), (date, count));
                    count += 1;
                }
            }
        }
        assert_eq!(count * DAY_S, MAX_S + 1);
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2026-11-15T09:30:12",
            "2026-11-15 09:30:12Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T09:60:00Z",
            "1969-12-31T23:59:59Z",
            "2026-11-15T09:30:12Z ",
            "+026-11-15T09:30:12Z",
            "202é-11-15T09:30:12Z",
        ] {
            assert_eq!(text.parse::<UtcTime>(), Err(BadTime), "{text}");
        }
    }
}
