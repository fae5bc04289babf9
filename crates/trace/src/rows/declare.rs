//! The declaration of a row; see [`super::row`].

/// Declares a row: `object`, `array`, `packed` for an object that can also wait in a spool, or `csv`;
/// then a struct. A field's type may be followed, in brackets, by:
///
/// | | |
/// |---|---|
/// | `[default]` | the column may be missing, as it is in files from before it was added |
/// | `[absent]` | an `Option` whose column is left out where it is `None` |
/// | `[as "loop"]` | the column has another name than the field |
/// | `[line]` | the column begins a line |
/// | `[flat]` | the columns of another row are here, without an object of their own |
/// | `[some Row]` | the same for an `Option` of a row: all of its columns, or none |
///
/// `derived name: Type = |row| …,` is a column that follows from the others: it is written, and what is read must agree.
/// `checked by function` after the struct says what cannot be true of a row.
///
/// The rules take one line of the declaration after the other, and gather the fields of the struct, the slots of the row
/// while it is read, the names of the fields, and the columns as `{ kind field (name) (type) (more) }`.
macro_rules! row {
    ($form:ident $(#[$meta:meta])* pub struct $name:ident $(<$life:lifetime>)? { $($body:tt)* } $(checked by $check:path)?) => {
        row! { @next ($form [$(#[$meta])*] $name [$($life)?] [$($check)?]) [] [] [] [] $($body)* }
    };

    (@next $head:tt [$($fields:tt)*] [$($slots:tt)*] [$($own:tt)*] [$($columns:tt)*] $(#[$doc:meta])* derived $field:ident: $type:ty = |$row:ident| $value:expr, $($rest:tt)*) => {
        row! { @next $head [$($fields)*] [$($slots)* $field: Option<$type>,]
            [$($own)*] [$($columns)* { derived $field (stringify!($field)) ($type) (|$row| $value) }] $($rest)* }
    };
    (@next $head:tt [$($fields:tt)*] [$($slots:tt)*] [$($own:tt)*] [$($columns:tt)*] $(#[$doc:meta])* $field:ident: $type:ty [as $column:literal], $($rest:tt)*) => {
        row! { @next $head [$($fields)* $(#[$doc])* pub $field: $type,] [$($slots)* $field: Option<$type>,]
            [$($own)* $field] [$($columns)* { plain $field ($column) ($type) () }] $($rest)* }
    };
    (@next $head:tt [$($fields:tt)*] [$($slots:tt)*] [$($own:tt)*] [$($columns:tt)*] $(#[$doc:meta])* $field:ident: $type:ty [flat], $($rest:tt)*) => {
        row! { @next $head [$($fields)* $(#[$doc])* pub $field: $type,] [$($slots)* $field: <$type as $crate::rows::row::Row>::Partial,]
            [$($own)* $field] [$($columns)* { flat $field (stringify!($field)) ($type) () }] $($rest)* }
    };
    (@next $head:tt [$($fields:tt)*] [$($slots:tt)*] [$($own:tt)*] [$($columns:tt)*] $(#[$doc:meta])* $field:ident: $type:ty [some $inner:ty], $($rest:tt)*) => {
        row! { @next $head [$($fields)* $(#[$doc])* pub $field: $type,] [$($slots)* $field: Option<<$inner as $crate::rows::row::Row>::Partial>,]
            [$($own)* $field] [$($columns)* { some $field (stringify!($field)) ($type) ($inner) }] $($rest)* }
    };
    (@next $head:tt [$($fields:tt)*] [$($slots:tt)*] [$($own:tt)*] [$($columns:tt)*] $(#[$doc:meta])* $field:ident: $type:ty [$kind:ident], $($rest:tt)*) => {
        row! { @next $head [$($fields)* $(#[$doc])* pub $field: $type,] [$($slots)* $field: Option<$type>,]
            [$($own)* $field] [$($columns)* { $kind $field (stringify!($field)) ($type) () }] $($rest)* }
    };
    (@next $head:tt [$($fields:tt)*] [$($slots:tt)*] [$($own:tt)*] [$($columns:tt)*] $(#[$doc:meta])* $field:ident: $type:ty, $($rest:tt)*) => {
        row! { @next $head [$($fields)* $(#[$doc])* pub $field: $type,] [$($slots)* $field: Option<$type>,]
            [$($own)* $field] [$($columns)* { plain $field (stringify!($field)) ($type) () }] $($rest)* }
    };

    (@next ($form:ident [$($meta:tt)*] $name:ident [$($life:lifetime)?] [$($check:path)?])
        [$($fields:tt)*] [$($slots:tt)*] [$($own:ident)*] [$({ $kind:ident $field:ident ($($column:tt)*) ($type:ty) ($($more:tt)*) })*]) => {
        $($meta)*
        pub struct $name $(<$life>)? {
            $($fields)*
        }

        const _: () = {
            use $crate::rows::row;

            #[derive(Default)]
            pub struct Partial $(<$life>)? {
                $($slots)*
            }

            impl $(<$life>)? row::Row for $name $(<$life>)? {
                const COLUMNS: &'static [&'static str] = &[$($($column)*),*];
                type Partial = Partial $(<$life>)?;

                fn set<'de, V: row::NextValue<'de>>(
                    partial: &mut Self::Partial,
                    column: &str,
                    value: &mut V,
                ) -> Result<bool, V::Error> {
                    $(column!(@set $kind (partial.$field) ($($column)*) ($type) ($($more)*) column value);)*
                    Ok(false)
                }

                fn finish(partial: Self::Partial) -> Result<Self, String> {
                    $(column!(@finish $kind partial $field ($($column)*) ($type) ($($more)*));)*
                    let row = $name { $($own),* };
                    $(column!(@agree $kind row $field ($($column)*) ($($more)*));)*
                    $($check(&row)?;)?
                    Ok(row)
                }
            }

            row! { @form $form $name [$($life)?] [$($check)?] [$($own)*] [$({ $kind $field ($($column)*) ($type) ($($more)*) })*] }
        };
    };

    (@form packed $name:ident [] $check:tt [$($own:ident)*] [$({ $kind:ident $field:ident $column:tt ($type:ty) $more:tt })*]) => {
        impl $crate::rows::deps::Packed for $name {
            const BYTES: usize = 0 $(+ <$type as $crate::rows::deps::Packed>::BYTES)*;

            #[inline]
            fn pack(&self, to: &mut Vec<u8>) {
                to.reserve(Self::BYTES);
                $(self.$field.pack(to);)*
            }

            #[inline]
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::rows::deps::Packed::unpack(from)?;)*
                Some($name { $($own),* })
            }
        }

        row! { @numbers $name [] [$({ $kind $field })*] }
        row! { @form object $name [] $check [$($own)*] [$({ $kind $field $column ($type) $more })*] }
    };

    (@numbers $name:ident [$($life:lifetime)?] [$({ $kind:ident $field:ident })*]) => {
        impl $(<$life>)? $crate::rows::Numbers for $name $(<$life>)? {
            const NAMES: &'static [&'static str] = <Self as row::Row>::COLUMNS;

            fn number(&self, column: usize) -> Option<u64> {
                let mut at = 0;
                $(
                    if column == at {
                        return column!(@number $kind self $field);
                    }
                    at += 1;
                )*
                let _ = at;
                None
            }
        }
    };

    (@form object $name:ident [$($life:lifetime)?] [$($check:path)?] [$($own:ident)*]
        [{ $first_kind:ident $first:ident ($($first_column:tt)*) ($first_type:ty) ($($first_more:tt)*) }
         $({ $kind:ident $field:ident ($($column:tt)*) ($type:ty) ($($more:tt)*) })*]) => {
        impl $(<$life>)? row::ObjectRow for $name $(<$life>)? {
            #[inline]
            fn write_fields(&self, text: &mut $crate::text::Text, open: &'static str) {
                column!(@write_first $first_kind self $first ($($first_column)*) text open);
                $(column!(@write $kind self $field ($($column)*) ($($more)*) text);)*
            }

            #[inline(always)]
            fn quick_fields<const WANTED: u64>(
                text: &mut $crate::rows::quick::Quick<'_>,
                open: &'static str,
            ) -> Option<Self> {
                let mut bit = 1;
                column!(@quick_first $first_kind $first ($($first_column)*) ($first_type) text open);
                $(
                    bit <<= 1;
                    column!(@quick $kind $field ($($column)*) ($type) ($($more)*) text (WANTED & bit != 0));
                )*
                let _ = bit;
                let row = $name { $($own),* };
                $(column!(@quick_agree $kind row $field ($($more)*));)*
                $($check(&row).ok()?;)?
                Some(row)
            }
        }

        impl $(<$life>)? $crate::rows::field::Field for $name $(<$life>)? {
            #[inline]
            fn write(&self, text: &mut $crate::text::Text) {
                row::ObjectRow::write_fields(self, text, "{");
                text.raw("}");
            }

            #[inline]
            fn quick(text: &mut $crate::rows::quick::Quick<'_>) -> Option<Self> {
                let row = <Self as row::ObjectRow>::quick_fields::<{ row::ALL }>(text, "{")?;
                text.take(b'}')?;
                Some(row)
            }

            #[inline]
            fn skip(text: &mut $crate::rows::quick::Quick<'_>) -> Option<Self> {
                let row = <Self as row::ObjectRow>::quick_fields::<0>(text, "{")?;
                text.take(b'}')?;
                Some(row)
            }
        }

        impl<'de $(, $life)?> serde::Deserialize<'de> for $name $(<$life>)? {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_map(row::ObjectVisitor(std::marker::PhantomData))
            }
        }
    };

    (@form csv $name:ident [$($life:lifetime)?] [] [$($own:ident)*] [{ $k:ident $first:ident $c:tt ($first_type:ty) $m:tt } $({ $kind:ident $field:ident $column:tt ($type:ty) $more:tt })*]) => {
        impl $(<$life>)? $name $(<$life>)? {
            /// Writes all values, with commas between them.
            #[inline]
            pub(crate) fn write_cells(&self, text: &mut $crate::text::Text) {
                text.number(self.$first);
                $($crate::rows::pmu::CellField::write_cell(&self.$field, text);)*
            }

            /// Reads them as they were written.
            #[inline]
            pub(crate) fn quick_cells(
                text: &mut $crate::rows::quick::Quick<'_>,
                cells: &$crate::rows::pmu::Cells,
            ) -> Option<Self> {
                let $first = text.small()?;
                $(let $field = $crate::rows::pmu::CellField::quick_cell(text, cells)?;)*
                Some($name { $($own),* })
            }

            /// Reads them from the fields of a record.
            pub(crate) fn read_cells(
                cells: &$crate::rows::pmu::Cells,
                fields: &[std::borrow::Cow<'_, str>],
            ) -> Result<Self, String> {
                let mut column = 0;
                let $first = $crate::rows::pmu::CellField::read_cell(cells, fields, column)?;
                $(
                    column += 1;
                    let $field = $crate::rows::pmu::CellField::read_cell(cells, fields, column)?;
                )*
                Ok($name { $($own),* })
            }
        }
    };

    (@form array $name:ident [$($life:lifetime)?] [$($check:path)?] [$($own:ident)*]
        [{ $first_kind:ident $first:ident ($($first_column:tt)*) ($first_type:ty) ($($first_more:tt)*) }
         $({ $kind:ident $field:ident ($($column:tt)*) ($type:ty) ($($more:tt)*) })*]) => {
        row! { @numbers $name [$($life)?] [{ $first_kind $first } $({ $kind $field })*] }

        impl $(<$life>)? row::ArrayRow for $name $(<$life>)? {
            const REQUIRED: usize = 1 $(+ column!(@required $kind))*;

            #[inline]
            fn write_values(&self, text: &mut $crate::text::Text, columns: usize) {
                let mut at = 1;
                $crate::rows::field::Field::write(&self.$first, text.raw("["));
                $(
                    if column!(@required $kind) == 1 || at < columns {
                        $crate::rows::field::Field::write(&self.$field, text.raw(","));
                    }
                    at += 1;
                )*
                let _ = at;
                text.raw("]");
            }

            #[inline(always)]
            fn quick_values(text: &mut $crate::rows::quick::Quick<'_>, columns: usize) -> Option<Self> {
                text.take(b'[')?;
                let mut at = 1;
                let $first = <$first_type as $crate::rows::field::Field>::quick(text)?;
                $(
                    let $field = if column!(@required $kind) == 1 || at < columns {
                        text.take(b',')?;
                        <$type as $crate::rows::field::Field>::quick(text)?
                    } else {
                        column!(@missing $kind)
                    };
                    at += 1;
                )*
                while at < columns {
                    text.take(b',')?;
                    text.plain_value()?;
                    at += 1;
                }
                text.take(b']')?;
                let row = $name { $($own),* };
                $($check(&row).ok()?;)?
                Some(row)
            }
        }
    };
}

/// What one column of a [`row!`] does in each of the functions of its row, by its kind.
macro_rules! column {
    (@set flat ($slot:expr) $column:tt ($type:ty) () $name:ident $value:ident) => {
        if <$type as row::Row>::set(&mut $slot, $name, $value)? {
            return Ok(true);
        }
    };
    (@set some ($slot:expr) $column:tt $type:tt ($inner:ty) $name:ident $value:ident) => {
        let had_some = $slot.is_some();
        let mut inner = $slot.take().unwrap_or_default();
        let is_known = <$inner as row::Row>::set(&mut inner, $name, $value)?;
        $slot = (had_some || is_known).then_some(inner);
        if is_known {
            return Ok(true);
        }
    };
    (@set $kind:ident ($slot:expr) ($($column:tt)*) $type:tt $more:tt $name:ident $value:ident) => {
        if $name == $($column)* {
            return row::fill(&mut $slot, $($column)*, $value);
        }
    };

    (@finish flat $partial:ident $field:ident $column:tt ($type:ty) ()) => {
        let $field = <$type as row::Row>::finish($partial.$field)?;
    };
    (@finish some $partial:ident $field:ident $column:tt $type:tt ($inner:ty)) => {
        let $field = $partial.$field.map(<$inner as row::Row>::finish).transpose()?;
    };
    (@finish derived $partial:ident $field:ident $column:tt $type:tt $more:tt) => {
        let $field = $partial.$field;
    };
    (@finish default $partial:ident $field:ident $column:tt $type:tt $more:tt) => {
        let $field = $partial.$field.unwrap_or_default();
    };
    (@finish absent $partial:ident $field:ident $column:tt $type:tt $more:tt) => {
        let $field = $partial.$field.unwrap_or_default();
    };
    (@finish $kind:ident $partial:ident $field:ident ($($column:tt)*) $type:tt $more:tt) => {
        let $field = $partial.$field.ok_or_else(|| row::missing($($column)*))?;
    };

    (@agree derived $row:ident $field:ident ($($column:tt)*) (|$of:ident| $value:expr)) => {
        let expected = { let $of = &$row; $value };
        row::follows($($column)*, $field, expected)?;
    };
    (@agree $kind:ident $row:ident $field:ident $column:tt $more:tt) => {};

    (@quick_agree derived $row:ident $field:ident (|$of:ident| $value:expr)) => {
        let expected = { let $of = &$row; $value };
        if $field != expected {
            return None;
        }
    };
    (@quick_agree $kind:ident $row:ident $field:ident $more:tt) => {};

    (@write_first flat $row:ident $field:ident $column:tt $text:ident $open:ident) => {
        row::ObjectRow::write_fields(&$row.$field, $text, $open)
    };
    (@write_first plain $row:ident $field:ident ($($column:tt)*) $text:ident $open:ident) => {
        $crate::rows::field::Field::write(&$row.$field, $text.raw($open).raw(concat!("\"", $($column)*, "\":")))
    };

    (@write flat $row:ident $field:ident $column:tt () $text:ident) => {
        row::ObjectRow::write_fields(&$row.$field, $text, ",")
    };
    (@write some $row:ident $field:ident $column:tt $more:tt $text:ident) => {
        if let Some(inner) = &$row.$field {
            row::ObjectRow::write_fields(inner, $text, ",");
        }
    };
    (@write absent $row:ident $field:ident ($($column:tt)*) () $text:ident) => {
        if let Some(value) = &$row.$field {
            $crate::rows::field::Field::write(value, $text.raw(concat!(",\"", $($column)*, "\":")));
        }
    };
    (@write derived $row:ident $field:ident ($($column:tt)*) (|$of:ident| $value:expr) $text:ident) => {
        let value = { let $of = $row; $value };
        $crate::rows::field::Field::write(&value, $text.raw(concat!(",\"", $($column)*, "\":")))
    };
    (@write $kind:ident $row:ident $field:ident ($($column:tt)*) () $text:ident) => {
        $crate::rows::field::Field::write(&$row.$field, $text.raw(column!(@key $kind $($column)*)))
    };

    (@quick_first flat $field:ident $column:tt ($type:ty) $text:ident $open:ident) => {
        let $field = <$type as row::ObjectRow>::quick_fields::<WANTED>($text, $open)?;
    };
    (@quick_first plain $field:ident ($($column:tt)*) ($type:ty) $text:ident $open:ident) => {
        $text.text($open)?;
        $text.text(concat!("\"", $($column)*, "\":"))?;
        let $field = <$type as $crate::rows::field::Field>::quick($text)?;
    };

    (@quick flat $field:ident $column:tt ($type:ty) () $text:ident $wanted:tt) => {
        let $field = <$type as row::ObjectRow>::quick_fields::<WANTED>($text, ",")?;
    };
    (@quick some $field:ident $column:tt $type:tt ($inner:ty) $text:ident $wanted:tt) => {
        let mut ahead = *$text;
        let $field = <$inner as row::ObjectRow>::quick_fields::<{ row::ALL }>(&mut ahead, ",");
        if $field.is_some() {
            *$text = ahead;
        }
    };
    (@quick absent $field:ident ($($column:tt)*) ($type:ty) () $text:ident $wanted:tt) => {
        let $field = match $text.text(concat!(",\"", $($column)*, "\":")) {
            Some(()) => <$type as $crate::rows::field::Field>::quick($text)?,
            None => None,
        };
    };
    (@quick $kind:ident $field:ident ($($column:tt)*) ($type:ty) $more:tt $text:ident $wanted:tt) => {
        $text.text(column!(@key $kind $($column)*))?;
        let $field = match $wanted {
            true => <$type as $crate::rows::field::Field>::quick($text)?,
            false => <$type as $crate::rows::field::Field>::skip($text)?,
        };
    };

    (@key line $($column:tt)*) => { concat!(",\n \"", $($column)*, "\":") };
    (@key $kind:ident $($column:tt)*) => { concat!(",\"", $($column)*, "\":") };

    (@number some $row:ident $field:ident) => { None };
    (@number $kind:ident $row:ident $field:ident) => { $crate::rows::field::Field::number(&$row.$field) };

    (@required default) => { 0 };
    (@required $kind:ident) => { 1 };

    (@missing default) => { Default::default() };
    (@missing $kind:ident) => { unreachable!("a column that is in every file") };
}
