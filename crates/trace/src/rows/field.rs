//! The values that a column can have: how each is written, and how it is read quickly. All of JSON is read by `serde`.

use std::borrow::Cow;

use ringlane_task::{
    Access, BlockIndex, CoreId, DType, KernelId, Resource, RingIndex, ScopeId, Seq, TaskId, Ticks,
};

use super::quick::Quick;
use crate::text::Text;

/// A value of a column.
pub(crate) trait Field: Sized {
    /// Writes it as JSON.
    fn write(&self, text: &mut Text);

    /// Reads it, if it is written just as `write` does.
    fn quick(text: &mut Quick<'_>) -> Option<Self>;

    /// Goes past it as `quick` would, without keeping it: any value is returned.
    #[inline]
    fn skip(text: &mut Quick<'_>) -> Option<Self> {
        Self::quick(text)
    }

    /// The number that it is, or the code of a name; `None` if it is something else, or not there.
    #[inline]
    fn number(&self) -> Option<u64> {
        None
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Field for $number {
            #[inline]
            fn write(&self, text: &mut Text) {
                text.number(*self);
            }

            #[inline]
            fn quick(text: &mut Quick<'_>) -> Option<Self> {
                text.small()
            }

            #[inline]
            fn number(&self) -> Option<u64> {
                u64::try_from(*self).ok()
            }
        }
    )*};
}
numbers!(u8 u32 u64 usize i64);

/// Ids: one number each.
macro_rules! id_fields {
    ($($id:ident)*) => {$(
        impl $crate::rows::field::Field for $id {
            #[inline]
            fn write(&self, text: &mut $crate::text::Text) {
                text.number(self.0);
            }

            #[inline]
            fn quick(text: &mut $crate::rows::quick::Quick<'_>) -> Option<Self> {
                text.small().map($id)
            }

            #[inline]
            fn number(&self) -> Option<u64> {
                Some(self.0.into())
            }
        }
    )*};
}
id_fields!(BlockIndex CoreId KernelId RingIndex ScopeId Seq TaskId Ticks);

/// Closed sets, each written by its name.
macro_rules! name_fields {
    ($($name:ident: $from_name:expr;)*) => {$(
        impl $crate::rows::field::Field for $name {
            #[inline]
            fn write(&self, text: &mut $crate::text::Text) {
                text.raw("\"").raw(self.as_str()).raw("\"");
            }

            #[inline]
            fn quick(text: &mut $crate::rows::quick::Quick<'_>) -> Option<Self> {
                $from_name(text.string()?)
            }
        }
    )*};
}
name_fields! {
    Access: |name| Access::ALL.into_iter().find(|one| one.as_str() == name);
    Resource: |name| Resource::ALL.into_iter().find(|one| one.as_str() == name);
    DType: |name: &str| name.parse().ok();
}

impl Field for bool {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.raw(if *self { "true" } else { "false" });
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        text.truth()
    }
}

impl Field for String {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.string(self);
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        text.string().map(str::to_string)
    }

    #[inline]
    fn skip(text: &mut Quick<'_>) -> Option<Self> {
        text.string().map(|_| String::new())
    }
}

impl Field for Cow<'_, str> {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.string(self);
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        String::quick(text).map(Cow::Owned)
    }

    #[inline]
    fn skip(text: &mut Quick<'_>) -> Option<Self> {
        String::skip(text).map(Cow::Owned)
    }
}

/// `null`, or a value.
impl<T: Field> Field for Option<T> {
    #[inline]
    fn write(&self, text: &mut Text) {
        match self {
            Some(value) => value.write(text),
            None => drop(text.raw("null")),
        }
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        match text.peek()? {
            b'n' => text.text("null").map(|()| None),
            _ => T::quick(text).map(Some),
        }
    }

    #[inline]
    fn number(&self) -> Option<u64> {
        self.as_ref().and_then(T::number)
    }
}

impl<T: Field> Field for Vec<T> {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.list(self, |text, value| value.write(text));
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        let mut values = Vec::new();
        text.list(|text| T::quick(text).map(|value| values.push(value)))?;
        Some(values)
    }

    #[inline]
    fn skip(text: &mut Quick<'_>) -> Option<Self> {
        text.list(|text| T::skip(text).map(drop))?;
        Some(Vec::new())
    }
}

impl<T: Field + Clone> Field for Cow<'_, [T]> {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.list(self.iter(), |text, value| value.write(text));
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        Vec::quick(text).map(Cow::Owned)
    }

    #[inline]
    fn skip(text: &mut Quick<'_>) -> Option<Self> {
        Vec::skip(text).map(Cow::Owned)
    }
}

/// As many values as there are rings, or bounds.
impl<T: Field + Copy + Default, const N: usize> Field for [T; N] {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.list(self, |text, value| value.write(text));
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        let mut values = [T::default(); N];
        text.take(b'[')?;
        for (place, value) in values.iter_mut().enumerate() {
            if place > 0 {
                text.take(b',')?;
            }
            *value = T::quick(text)?;
        }
        text.take(b']')?;
        Some(values)
    }
}
