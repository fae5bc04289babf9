//! Things that answers show by their names.

/// Shows these by their names.
macro_rules! shown_by_name {
    ($($type:ty)*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }
    )*};
}
shown_by_name! {
    crate::bound::Placement
    crate::critical_path::Cause
    crate::findings::Severity
    crate::pmu::Measured
    crate::verdict::Limit
    crate::CoreKind
}
