//! Values of JSON, each taken as it comes.

use std::fmt::{self, Write};
use std::marker::PhantomData;

use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};

/// What is taken of an object.
pub(crate) trait Fields {
    /// What the object is, for errors.
    const WHAT: &'static str;
    /// The fields that are taken; others are skipped.
    const KEYS: &'static [&'static str];

    /// Takes the value of one of the fields.
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error>;
}

/// What is taken of a list.
pub(crate) trait Items {
    /// What the list is of, for errors.
    const WHAT: &'static str;

    /// Takes the next item; `false` if there is none.
    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error>;
}

/// An object.
pub(crate) struct Object<'r, F>(pub &'r mut F);

impl<'de, F: Fields> DeserializeSeed<'de> for Object<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for Object<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(F::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Key::<F>(PhantomData))? {
            match key {
                Some(key) => self.0.field(key, &mut map)?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The name of a field, if it is taken.
struct Key<F>(PhantomData<F>);

impl<'de, F: Fields> DeserializeSeed<'de> for Key<F> {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl<F: Fields> Visitor<'_> for Key<F> {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(F::KEYS.iter().find(|known| **known == name).copied())
    }
}

/// A list.
pub(crate) struct List<'r, I>(pub &'r mut I);

impl<'de, I: Items> DeserializeSeed<'de> for List<'_, I> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, I: Items> Visitor<'de> for List<'_, I> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", I::WHAT)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while self.0.item(&mut list)? {}
        Ok(())
    }
}

/// A value that nothing is taken of.
pub(crate) type Skip = IgnoredAny;

/// A string, in place of the one that is there.
pub(crate) struct Text<'s>(pub &'s mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        replace(self.0, text)
    }
}

/// A string or a whole number, as text: two of one text are the same thing.
pub(crate) struct TextOrNumber<'s>(pub &'s mut String);

impl<'de> DeserializeSeed<'de> for TextOrNumber<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for TextOrNumber<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        replace(self.0, text)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        replace(self.0, format_args!("{number}"))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        replace(self.0, format_args!("{number}"))
    }
}

fn replace<E>(to: &mut String, text: impl fmt::Display) -> Result<(), E> {
    to.clear();
    // A string takes whatever fits into memory.
    let _ = write!(to, "{text}");
    Ok(())
}

/// A number. The JSON form of protobuf has numbers of 64 bits as strings.
pub(crate) struct Number<'s>(pub &'s mut Option<f64>);

impl<'de> DeserializeSeed<'de> for Number<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for Number<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        *self.0 = Some(number);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let number = text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))?;
        self.visit_f64(number)
    }
}

/// A whole number that is not negative, or a string of one.
pub(crate) struct Whole<'s>(pub &'s mut u64);

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 up")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        *self.0 = number;
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if number.fract() != 0.0 || !(0.0..9e18).contains(&number) {
            return Err(E::invalid_value(Unexpected::Float(number), &self));
        }
        *self.0 = number as u64;
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        *self.0 = text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))?;
        Ok(())
    }
}
