//! Ids as numbers and names as strings, wherever `serde` writes or reads them.

use core::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    Access, BlockIndex, CoreId, DType, KernelId, Resource, RingIndex, ScopeId, Seq, SiteId, TaskId, Ticks,
};

macro_rules! numbers {
    ($($name:ident)*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(to)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Deserialize::deserialize(from).map($name)
            }
        }
    )*};
}
numbers!(BlockIndex CoreId KernelId RingIndex ScopeId Seq SiteId TaskId Ticks);

/// Reads one of some things by its name.
struct Named<T: 'static> {
    what: &'static str,
    all: &'static [T],
    name_of: fn(T) -> &'static str,
}

impl<T: Copy> Visitor<'_> for Named<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {}", self.what)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        let known = self.all.iter().copied().find(|&one| (self.name_of)(one) == name);
        known.ok_or_else(|| E::custom(format_args!("unknown {} {name:?}", self.what)))
    }
}

macro_rules! names {
    ($($name:ident: $what:literal, $all:expr;)*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_str(Named { what: $what, all: $all, name_of: $name::as_str })
            }
        }
    )*};
}
names! {
    Access: "access", &Access::ALL;
    DType: "dtype", DType::ALL;
    Resource: "resource", &Resource::ALL;
}
