//! "Did you mean …": the name that was probably meant.

/// The known name that is nearest to what was given, if one is near enough to be a slip.
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    let by_distance = |name: &&'a str| (edits(&given, &name.to_lowercase()), name.len());
    let near = known.iter().copied().min_by_key(by_distance)?;
    let limit = (near.chars().count().max(given.chars().count()) / 3).max(1);
    let is_start = given.len() >= 2 && near.to_lowercase().starts_with(&given);
    (is_start || edits(&given, &near.to_lowercase()) <= limit).then_some(near)
}

/// Insertions, deletions and replacements that lead from one word to the other.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["vector", "matmul", "paged_attention", "stream"];

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        assert_eq!(nearest("vectro", &KNOWN), Some("vector"));
        assert_eq!(nearest("Matmul", &KNOWN), Some("matmul"));
        assert_eq!(nearest("paged_atention", &KNOWN), Some("paged_attention"));
    }

    #[test]
    fn another_word_finds_none() {
        assert_eq!(nearest("conv2d", &KNOWN), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("abc", "abc")), (3, 3, 0));
    }
}
