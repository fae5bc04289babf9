//! Rows of `scope_stats.json` as [`super::ScopesWriter`] writes them; any other form is for `serde` (see
//! [`crate::rows::quick`]).

use std::borrow::Cow;

use ringlane_task::{RINGS, Resource, RingIndex, ScopeId, Ticks};

use super::{Peak, ScopeNeed, ScopeRow, ScopeStall};
use crate::rows::quick::Quick;

pub(super) fn scope(text: &mut Quick<'_>) -> Option<ScopeRow<'static>> {
    text.text("{\"scope\":")?;
    let scope = ScopeId(text.small()?);
    text.text(",\"parent\":")?;
    let parent = small_or_null(text)?.map(ScopeId);
    text.text(",\"site\":")?;
    let site = text.string()?;
    text.text(",\"depth\":")?;
    let depth = text.small()?;
    text.text(",\"ring\":")?;
    let ring = RingIndex(text.small()?);
    text.text(",\"tasks\":")?;
    let tasks = text.number()?;
    text.text(",\"open\":false,\"enter\":")?;
    let enter = Ticks(text.number()?);
    text.text(",\"exit\":")?;
    let exit = Some(Ticks(text.number()?));
    text.text(",\n \"task_window\":")?;
    let task_window = peaks(text)?;
    text.text(",\"heap\":")?;
    let heap = peaks(text)?;
    text.text(",\"dep_pool\":")?;
    let dep_pool = peaks(text)?;
    text.text(",\"args\":")?;
    let args = peaks(text)?;
    text.text(",\"tensormap\":")?;
    let tensormap = peak(text)?;
    text.text(",\"fanin\":")?;
    let fanin = peak(text)?;
    text.text(",\n \"need\":")?;
    let need = need(text)?;
    text.text(",\"stalls\":")?;
    let mut stalls = Vec::new();
    text.list(|text| {
        stalls.push(stall(text)?);
        Some(())
    })?;
    text.take(b'}')?;
    let (site, stalls) = (Cow::Owned(site.to_string()), Cow::Owned(stalls));
    Some(ScopeRow {
        scope,
        parent,
        site,
        depth,
        ring,
        tasks,
        enter,
        exit,
        task_window,
        heap,
        dep_pool,
        args,
        tensormap,
        fanin,
        need,
        stalls,
    })
}

fn small_or_null<T: TryFrom<u64>>(text: &mut Quick<'_>) -> Option<Option<T>> {
    match text.number_or_null()? {
        Some(number) => T::try_from(number).ok().map(Some),
        None => Some(None),
    }
}

#[inline]
fn peak(text: &mut Quick<'_>) -> Option<Peak> {
    text.take(b'"')?;
    let peak = text.number()?;
    text.take(b'/')?;
    let capacity = text.number()?;
    text.take(b'"')?;
    Some(Peak { peak, capacity })
}

#[inline]
fn peaks(text: &mut Quick<'_>) -> Option<[Peak; RINGS]> {
    let mut peaks = [Peak::default(); RINGS];
    text.take(b'[')?;
    for (ring, to) in peaks.iter_mut().enumerate() {
        if ring > 0 {
            text.take(b',')?;
        }
        *to = peak(text)?;
    }
    text.take(b']')?;
    Some(peaks)
}

fn need(text: &mut Quick<'_>) -> Option<ScopeNeed> {
    text.text("{\"task_window\":")?;
    let task_window = text.number()?;
    text.text(",\"heap\":")?;
    let heap = text.number()?;
    text.text(",\"dep_pool\":")?;
    let dep_pool = text.number()?;
    text.text(",\"args\":")?;
    let args = text.number()?;
    text.text(",\"heap_piece\":")?;
    let heap_piece = text.number()?;
    text.text(",\"args_piece\":")?;
    let args_piece = text.number()?;
    text.take(b'}')?;
    Some(ScopeNeed { task_window, heap, dep_pool, args, heap_piece, args_piece })
}

fn stall(text: &mut Quick<'_>) -> Option<ScopeStall> {
    text.text("{\"ring\":")?;
    let ring = small_or_null(text)?.map(RingIndex);
    text.text(",\"resource\":")?;
    let resource = text.string()?;
    let resource = Resource::ALL.iter().copied().find(|one| one.as_str() == resource)?;
    text.text(",\"count\":")?;
    let count = text.number()?;
    text.text(",\"ticks\":")?;
    let ticks = Ticks(text.number()?);
    text.take(b'}')?;
    Some(ScopeStall { ring, resource, count, ticks })
}

#[cfg(test)]
mod tests;
