//! Closed sets of words, each written by its name in the artifacts.

/// Makes an enum whose variants have names and codes.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All of them, in the order of their codes.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The name used in the artifact.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one with this code, if there is one; `self as u8` is the code.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.get(usize::from(code)).copied()
            }

            /// The one with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::rows::field::Field for $name {
            #[inline]
            fn write(&self, text: &mut $crate::text::Text) {
                text.raw(match self { $($name::$variant => concat!("\"", $text, "\""),)* });
            }

            #[inline]
            fn quick(text: &mut $crate::rows::quick::Quick<'_>) -> Option<Self> {
                $name::from_name(text.string()?)
            }

            #[inline]
            fn number(&self) -> Option<u64> {
                Some(*self as u64)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                let known: &[&str] = &[$($text,)*];
                Self::from_name(&name).ok_or_else(|| <D::Error as serde::de::Error>::unknown_variant(&name, known))
            }
        }
    };
}
