//! Many tasks in scopes of a bounded size, so that a scene fits a small task window.

use ringlane_engine::prelude::*;

/// Calls `each` for each item, in scopes of at most `per_scope` items.
#[track_caller]
pub(crate) fn in_scopes<'s, 'p: 's, I>(
    o: &mut Orch<'s, 'p>,
    items: impl IntoIterator<Item = I>,
    per_scope: usize,
    mut each: impl for<'c> FnMut(&mut Orch<'c, 's>, I) -> Result<()>,
) -> Result<()> {
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        o.scope(|o| items.by_ref().take(per_scope).try_for_each(|item| each(o, item)))?;
    }
    Ok(())
}

/// The pieces `(start, len)` of `0..total`, all of length `size` except possibly the last.
pub(crate) fn pieces(total: u32, size: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    (0..total.div_ceil(size)).map(move |i| (i * size, size.min(total - i * size)))
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_cover_everything_once() {
        assert!(pieces(7, 3).eq([(0, 3), (3, 3), (6, 1)]));
        assert!(pieces(2, 3).eq([(0, 2)]));
        assert_eq!(pieces(6, 3).count(), 2);
    }
}
